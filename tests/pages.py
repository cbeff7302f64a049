#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pages.py: the commands on the pages do what the pages say, as TAP.

    pages.py [--check] [PAGE...]
    pages.py --links FOLDER

Without pages it takes all.  --check runs nothing: it looks whether each block of
code says what it is, and whether each link resolves.  After its fence stands

    sh                  commands; they are run, and have to succeed
    sh run-by=FILE      another test runs them; it names the page or the programs
    sh needs=WHAT       they take what a machine that tests has not
    console             a command behind a "$"; it is run, and has to print each
                        line below it
    text file=NAME      what is in that file, for the commands below
    text, c, python …   no commands

The program, the plugin and the examples are those of build/.

--links checks the installed pages in FOLDER: each link leads to a file in it, and
to a heading if it names one.
"""
import functools
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r'\]\(([^()\s]*)\)')
CODE = re.compile(r'(`+)(?!`).*?(?<!`)\1(?!`)')
COMMAND = re.compile(r'\$ |(sudo |\./|\S*/)?(gst-|meson|ninja|apt|examples/'
                     r'|tests/|build/|cd |export |GST_|TFX_)|\S+\.sh\b')
KINDS = ('sh', 'console', 'text', 'c', 'python', 'meson', 'json', 'ini', 'diff')
LINK = re.compile(r'\]\(([^()\s]+)\)')
TIMEOUT_S = 120
PATHS = {'GST_PLUGIN_PATH': 'build/gst', 'GST_PRESET_PATH': 'gst/presets',
         'PATH': 'build/gst/tools'}
# What the pages have, and what it is here.
AT_HOME = (
    ('/usr/share/sonic-pi/samples/loop_tabla.flac', 'noise.wav'),
    (r'(?<=[ =(])/tmp/', ''),
    (r'\bbuild/', ROOT + '/build/'),
    (r'-C build\b', '-C ' + ROOT + '/build'),
    (r'(?m)^(\./)?examples/', ROOT + '/examples/'),
)


class Block:
    def __init__(self, page, line, info):
        self.page, self.line, self.lines = page, line, []
        words = info.split()
        self.kind = words[0] if words else ''
        self.marks = dict(word.partition('=')[::2] for word in words[1:])

    def __str__(self):
        return f'{self.page}:{self.line}'

    def is_run(self):
        return self.kind in ('sh', 'console') and not self.marks

    def is_file(self):
        return 'file' in self.marks

    def find_fault(self):
        """What keeps a reader, or a test, from knowing what it is; or None."""
        first = self.lines[0] if self.lines else ''
        if self.kind not in KINDS:
            return f"'{self.kind}' is none of {', '.join(KINDS)}"
        if self.kind == 'text' and COMMAND.match(first):
            return f'looks like a command: {first}'
        if (self.kind == 'console') != first.startswith('$ '):
            return 'console is for a command behind a $'
        if self.kind == 'console' and len(self.lines) < 2:
            return 'there is nothing that it prints'
        for mark, value in self.marks.items():
            if mark not in ('run-by', 'needs', 'file') or not value:
                return f'{mark}={value}: unknown'
        if 'run-by' in self.marks:
            return self.find_missing(self.marks['run-by'])
        return None

    def find_missing(self, test):
        """None if the test names the page, or the programs."""
        try:
            with open(os.path.join(ROOT, test), encoding='utf-8') as file:
                content = file.read()
        except OSError as error:
            return str(error)
        if self.page in content:
            return None
        for line in self.lines:
            if line and not line.startswith((' ', '#', 'cd ')):
                name = os.path.basename(line.split()[0])
                if name not in content:
                    return f'{test} does not name {name}'
        return None

    def write(self, folder):
        name = os.path.join(folder, os.path.basename(self.marks['file']))
        with open(name, 'w', encoding='utf-8') as file:
            file.write('\n'.join(self.lines) + '\n')

    def run(self, folder):
        """Whether it does what the page says, and what it printed."""
        text = '\n'.join(self.lines) + '\n'
        wanted = []
        if self.kind == 'console':
            text, wanted = self.lines[0][2:] + '\n', self.lines[1:]
        for old, new in AT_HOME:
            text = re.sub(old, new.replace('\\', r'\\'), text)
        status, said, missing = run_until_said(text, folder, wanted)
        if status is None and (missing or not wanted):
            text += f'has not ended after {TIMEOUT_S} s\n'
        text += said + ''.join(f'not said: {line}\n' for line in missing)
        return not missing if wanted else status == 0, text


def run_until_said(text, folder, wanted):
    """Runs a script to its end, or until it has printed all that is wanted:
    gst-launch-1.0 may hang after an error that comes early.  Returns its status,
    what it printed, and what is missing."""
    until = time.monotonic() + TIMEOUT_S
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(['sh', '-e', '-c', text], cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT,
                                   start_new_session=True)
        while True:
            status = process.poll()
            said = os.pread(output.fileno(), 1 << 20, 0).decode(errors='replace')
            missing = [line for line in wanted if line not in said]
            if status is not None or wanted and not missing or \
                    time.monotonic() > until:
                break
            time.sleep(0.05)
        if status is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return status, said, missing


def read_blocks(page):
    """The blocks of a page, whose name is told from the root."""
    blocks, inside = [], False
    with open(os.path.join(ROOT, page), encoding='utf-8') as file:
        for number, line in enumerate(file.read().split('\n'), 1):
            if line.startswith('```'):
                inside = not inside
                if inside:
                    blocks.append(Block(page, number, line[3:]))
            elif inside:
                blocks[-1].lines.append(line)
    return blocks


def read_text(path):
    """(line number, line) of what is not code."""
    inside = False
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file.read().split('\n'), 1):
            if line.startswith('```'):
                inside = not inside
            elif not inside:
                yield number, line


@functools.lru_cache(None)
def find_anchors(path):
    """Those of the headings, by GitHub's rules."""
    anchors, uses = set(), {}
    for _, line in read_text(path):
        heading = re.match(r'#{1,6} +(.*?) *#*$', line)
        if heading:
            text = re.sub(r'!?\[([^]]*)\]\([^)]*\)', r'\1', heading[1])
            name = re.sub(r'[^\w\- ]', '', text.lower()).replace(' ', '-')
            uses[name] = uses.get(name, -1) + 1
            anchors.add(name + (f'-{uses[name]}' if uses[name] else ''))
    return anchors


def find_link_fault(root, page, target):
    """Why a link of a page in root leads nowhere, or None.  The pages in docs/
    are installed without the rest of the tree, and without docs/dev."""
    name, _, anchor = target.partition('#')
    path = os.path.normpath(os.path.join(os.path.dirname(page), name)) \
        if name else page
    is_users = os.path.dirname(page) == 'docs'
    if path.startswith('..') or not os.path.exists(os.path.join(root, path)):
        return f'{target}: no such file'
    if is_users and path.startswith('docs/dev'):
        return f'{target}: docs/dev is not installed'
    if is_users and not path.startswith('docs/') and path != 'NEWS':
        return f'{target}: is not installed beside docs/'
    if anchor and (not path.endswith('.md') or
                   anchor not in find_anchors(os.path.join(root, path))):
        return f'{target}: no such heading'
    return None


def find_link_faults(root, page):
    for number, line in read_text(os.path.join(root, page)):
        for target in LINK.findall(CODE.sub('', line)):
            fault = None if re.match(r'[a-z]+:', target) else \
                find_link_fault(root, page, target)
            if fault:
                yield f'{page}:{number}: {fault}'


def find_pages():
    pages = ['README.md', 'CONTRIBUTING.md', 'examples/README.md']
    pages += sorted(glob.glob('docs/**/*.md', root_dir=ROOT, recursive=True))
    return pages


def make_sounds(folder):
    """The recordings that the pages name."""
    subprocess.run(
        ['gst-launch-1.0', '-q', 'audiotestsrc', 'wave=white-noise',
         'num-buffers=100', 'samplesperbuffer=1200', '!',
         'audio/x-raw,rate=48000,channels=2,format=S16LE', '!', 'wavenc', '!',
         'filesink', 'location=noise.wav'], cwd=folder, check=True)
    os.mkdir(os.path.join(folder, 'recordings'))
    for name in ('in', 'music', 'voice', 'programme', 'recordings/one', 'recordings/two'):
        shutil.copy(os.path.join(folder, 'noise.wav'),
                    os.path.join(folder, name + '.wav'))


def set_paths(folder):
    for name, path in PATHS.items():
        old = os.environ.get(name, '')
        os.environ[name] = os.path.join(ROOT, path) + (old and ':' + old)
    os.environ['GST_REGISTRY'] = os.path.join(folder, 'registry.bin')


def check(pages, blocks):
    faults = [(block, block.find_fault()) for block in blocks]
    faults = [f'{block}: {fault}' for block, fault in faults if fault]
    return report(faults + [fault for page in pages
                            for fault in find_link_faults(ROOT, page)])


def check_links(folder):
    pages = sorted(glob.glob('**/*.md', root_dir=folder, recursive=True))
    return report([fault for page in pages
                   for fault in find_link_faults(folder, page)]
                  if pages else [f'{folder}: no pages'])


def report(faults):
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


def run(blocks):
    """Each page has a folder of its own."""
    n, folders = 0, set()
    with tempfile.TemporaryDirectory() as top:
        set_paths(top)
        for block in blocks:
            folder = os.path.join(top, os.path.basename(block.page))
            if block.page not in folders:
                folders.add(block.page)
                os.mkdir(folder)
                make_sounds(folder)
            if block.is_file():
                block.write(folder)
            if not block.is_run():
                continue
            n += 1
            works, said = block.run(folder)
            print(f"{'ok' if works else 'not ok'} {n} - {block}", flush=True)
            if not works:
                print(''.join(f'# {line}\n' for line in said.split('\n')))
    print(f'1..{n}')
    return 0


def main():
    if sys.argv[1:2] == ['--links']:
        return check_links(sys.argv[2])
    only_check = '--check' in sys.argv[1:]
    pages = [arg for arg in sys.argv[1:] if arg != '--check'] or find_pages()
    blocks = [block for page in pages for block in read_blocks(page)]
    return check(pages, blocks) if only_check else run(blocks)


if __name__ == '__main__':
    sys.exit(main())
