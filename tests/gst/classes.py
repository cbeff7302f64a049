#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""classes.py: docs/classes.md describes the catalogue as it is, as TAP.

    classes.py docs/classes.md GST_TFX

Each class that `gst-tfx list` prints has a section, with the class in its heading,
its signature, a row for each parameter with the true default and range, an
example that `gst-tfx check` accepts, and a picture that exists.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

CALL = re.compile(r'^(\w+)\((.*)\)$')
HEADING = re.compile(r'### [A-Z]\w*(, [A-Z]\w*)*')
RANGE = re.compile(r'(above )?(-?[\d.]+),? (?:to|below) (-?[\d.]+)(?:, (even))?$')
# What required parameters are while another one is tried.
VALUES = {'btype': "'lowpass'", 'cutoff': '1000', 'frequency': '1000', 'q': '1',
          'gain': '1', 'gain_scale': "'db'", 'n_bands': '4', 'num_taps': '101',
          'b': '[1]', 'gains': '[1, 2]', 'location': "'room.wav'", 'curve': "'A'",
          'sos': '[[1, 0, 0, 1, 0, 0]]', 'b0': '1', 'b1': '0', 'b2': '0', 'a0': '1',
          'a1': '0', 'a2': '0', 'crossovers': '1000', 'chain': 'None', 'phon': '60',
          'delay': '1', 'amount': '1'}
HEAD = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden',
                    'head.sofa')
REW = 'Filter  1: ON  PK  Fc  63.0 Hz  Gain  -5.0 dB  Q  4.00\n'


class Section:
    def __init__(self, names):
        self.names, self.rows, self.pictures = names, {}, []
        self.signatures, self.examples = {}, []


def split_arguments(text):
    """(name, default or None) of each; a comma within brackets is no end."""
    parts = re.split(r',\s*(?![^(\[]*[)\]])', text) if text else []
    return [(part.split('=', 1) + [None])[:2] for part in parts]


def read_catalogue(program):
    out = subprocess.run([program, 'list'], check=True, capture_output=True,
                         text=True).stdout
    return {match[1]: line for line in out.splitlines()
            for match in [CALL.match(line)] if match}


def read_page(path, catalogue):
    sections, block = [], None
    with open(path, encoding='utf-8') as file:
        for line in file.read().split('\n'):
            if line.startswith('```'):
                block = None if block is not None else line[3:]
            elif line.startswith('#') and block is None:
                names = line.lstrip('# ').split(', ')
                is_class = HEADING.fullmatch(line)
                sections.append(Section(names if is_class else []))
            elif not sections or not sections[-1].names:
                continue
            elif block is not None:
                read_code(sections[-1], block, line, catalogue)
            elif line.startswith('| `'):
                cells = [cell.strip() for cell in line.strip('|').split('|')]
                for name in re.findall(r'`(\w+)`', cells[0]):
                    sections[-1].rows[name] = cells
            else:
                sections[-1].pictures += re.findall(r'!\[[^]]+\]\(([^)]+)\)', line)
    return [section for section in sections if section.names]


def read_code(section, block, line, catalogue):
    match = CALL.match(line)
    if block != 'text' or not line:
        return
    if match and line in catalogue.values():
        section.signatures[match[1]] = line
    elif match and match[1] in section.names and match[1] not in section.signatures:
        section.signatures[match[1]] = line
    else:
        section.examples.append(line)


class Checker:
    """Runs the program, in a folder with the files of the examples."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        with open(os.path.join(folder, 'rew.txt'), 'w', encoding='utf-8') as file:
            file.write(REW)
        with open(os.path.join(folder, 'GraphicEQ.txt'), 'w',
                  encoding='utf-8') as file:
            file.write('GraphicEQ: 20 -0.5; 1000 2; 20000 0\n')
        with open(os.path.join(folder, 'hiss.csv'), 'w', encoding='utf-8') as file:
            file.write('20,-90\n1000,-100\n20000,-110\n')
        shutil.copy(HEAD, folder)
        for name, n in (('room.wav', 1), ('correction.wav', 1), ('hall.wav', 4),
                        ('hrir.wav', 14)):
            # A text with a frame on each line.
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write(' '.join(['1'] * n) + '\n' + ' '.join(['0.5'] * n) + '\n')

    def find_error(self, chain):
        result = subprocess.run([self.program, 'check', chain], cwd=self.folder,
                                capture_output=True, text=True, check=False)
        return result.stderr.split('\n')[0] if result.returncode else None

    def find_range_faults(self, name, parameters, cells):
        """A range such as "0 to 100": its ends are taken, more is not."""
        match = RANGE.match(cells[2].replace('−', '-'))
        if not match:
            return
        least, most = float(match[2]), float(match[3])
        step = 2 if match[4] else 1 if is_whole(parameters, cells) else 1e-6
        for value, is_in in ((least, not match[1]), (most, ' below ' not in cells[2]),
                             (least - step, False), (most + step, False)):
            tried = re.findall(r'`(\w+)`', cells[0])[0]
            error = self.find_error(make_call(name, parameters, tried, value))
            # What cannot be designed is in the range all the same.
            if is_in and error and 'double precision' not in error:
                yield f'{tried}={value:g} is refused: {error}'
            if not is_in and not error:
                yield f'{tried}={value:g} is accepted'


def is_whole(parameters, cells):
    """Those that count something; the others take any number."""
    return any(word in cells[0] for word in (
        '`order`', '`harmonics`', '`n_bands`', '`num_taps`', '`taps`', '`channel`',
        '`delay`', '`delay_samples`'))


def make_call(name, parameters, tried, value):
    arguments = [VALUES[p] if p == 'chain' else f'{p}={VALUES[p]}'
                 for p, default in parameters
                 if default is None and p not in (tried, '…')]
    if name == 'Delay':
        # It needs a time; the sum of all has a limit.
        arguments.append('taps=1' if tried == 'delay_samples' else 'delay_samples=9')
    return f'{name}({", ".join(arguments + [f"{tried}={value!r}"])})'


def find_faults(section, name, signature, checker):
    if name not in section.signatures:
        yield 'has no signature'
    elif section.signatures[name] != signature:
        yield f'signature is {section.signatures[name]}, but must be {signature}'
    parameters = split_arguments(CALL.match(signature)[2])
    for parameter, default in parameters:
        if parameter == '…':
            continue
        cells = section.rows.get(parameter)
        if not cells:
            yield f'{parameter} is in no row'
            continue
        if len(cells) != 5:
            yield f'the row of {parameter} has {len(cells)} cells'
            continue
        wanted = '—' if default is None else f'`{default}`'
        if wanted not in cells[3].split(' ') and f'{wanted};' not in cells[3].split(' '):
            yield f'default of {parameter} is {cells[3]}, but must be {wanted}'
        if parameter not in ('channel', 'chain'):  # the file has few
            yield from checker.find_range_faults(name, parameters, cells)
    if not any(f'{name}(' in example for example in section.examples):
        yield 'is in no example'


def find_section_faults(page, section, catalogue, checker):
    for name in section.names:
        if name not in catalogue:
            yield f'there is no class {name}'
    for example in section.examples:
        error = checker.find_error(example)
        if error and 'libmysofa' not in error:  # which may be absent
            yield f'{example}: {error}'
    known = {parameter for name in section.names
             for parameter, _ in split_arguments(
                 CALL.match(section.signatures.get(name, '_()'))[2])}
    for row in section.rows:
        if row not in known:
            yield f'{row} is in a row, but no parameter'
    if not section.pictures:
        yield 'has no picture'
    for picture in section.pictures:
        if not os.path.exists(os.path.join(os.path.dirname(page), picture)):
            yield f'{picture} does not exist'


def find_unused_pictures(page, sections):
    used = {picture for section in sections for picture in section.pictures}
    folder = os.path.join(os.path.dirname(page), 'classes')
    for name in sorted(os.listdir(folder)):
        if f'classes/{name}' not in used:
            yield f'classes/{name} is on no page'


class Tap:
    n = 0

    def report(self, what, faults):
        faults = list(faults)
        self.n += 1
        print(f"{'not ok' if faults else 'ok'} {self.n} - {what}")
        print(''.join(f'# {fault}\n' for fault in faults), end='', flush=True)


def main():
    page, program = sys.argv[1], os.path.abspath(sys.argv[2])
    catalogue, tap = read_catalogue(program), Tap()
    sections = read_page(page, catalogue)
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(program, folder)
        for name, signature in catalogue.items():
            mine = [section for section in sections if name in section.names]
            tap.report(name, find_faults(mine[0], name, signature, checker)
                       if mine else ['is in no heading'])
        for section in sections:
            tap.report('examples and picture of ' + ', '.join(section.names),
                       find_section_faults(page, section, catalogue, checker))
        tap.report('each picture is shown', find_unused_pictures(page, sections))
    print(f'1..{tap.n}')


if __name__ == '__main__':
    main()
