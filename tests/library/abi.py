#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""abi.py: watches the ABI of libtfx.

    abi.py HEADERS [LIBRARY]
    abi.py --write

abi.txt has a line for each function, type and macro of the public headers: its name,
and a checksum of its declaration without comments and white space.  The first form
prints each declaration of the installed headers in the folder HEADERS that was added,
removed or changed, and each symbol that LIBRARY exports without a declaration, or lacks.
Exits with 1 if there is any.  Without tfx-cuda.h its names are left out.

--write makes abi.txt from the headers of this tree.  Removing or changing a line that a
release has takes another soname.
"""
import hashlib
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
LIST = os.path.join(FOLDER, 'abi.txt')
SOURCES = {'tfx.h': 'dsp/tfx.h', 'tfx-expr.h': 'dsp/lang/expr.h',
           'tfx-cuda.h': 'cuda/tfx-cuda.h'}


def find_declarations(text):
    """name: the declaration, of each at the top level of a header."""
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    found = {}
    for name, value in re.findall(r'^#define (\w+)[ \t]+(\S.*)$', text, flags=re.M):
        found[name] = value
    text = re.sub(r'^#ifdef __cplusplus\n.*\n#endif$|^#.*$', '', text, flags=re.M)
    # Members and enumerators end within braces, a declaration behind them.
    for declaration in re.findall(r'(?:[^;{}]|\{[^{}]*\})+;', text):
        is_type = declaration.split()[0] == 'typedef'
        is_pointer = re.match(r'\s*typedef [^{]*\(\*(\w+)\)', declaration)
        if is_pointer:
            name = is_pointer[1]
        elif is_type:
            name = re.search(r'(\w+);$', declaration)[1]
        else:
            name = re.search(r'\b(tfx_\w+) \(', declaration)[1]
        # An opaque type may be declared before it is defined.
        found[name] = found.get(name, '') + declaration
    return found


def checksum(declaration):
    text = re.sub(r'\s+', ' ', declaration).strip()
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_headers(paths):
    """name: the checksum, of all headers."""
    found = {}
    for path in paths:
        with open(path, encoding='utf-8') as header:
            found.update(find_declarations(header.read()))
    return {name: checksum(text) for name, text in found.items()}


def find_exported(library):
    """The names of the symbols; each has the version of the soname."""
    out = subprocess.run(['nm', '-D', '--defined-only', library], check=True,
                         stdout=subprocess.PIPE, encoding='utf-8').stdout
    out = [line.split()[-1] for line in out.splitlines()]
    soname = os.path.basename(library).rpartition('.so.')[2]
    return {name.replace(f'@@TFX_{soname}', '') for name in out} - {f'TFX_{soname}'}


def main():
    if sys.argv[1:] == ['--write']:
        found = read_headers(os.path.join(ROOT, path) for path in SOURCES.values())
        with open(LIST, 'w', encoding='utf-8') as out:
            out.writelines(f'{name} {found[name]}\n' for name in sorted(found))
        return 0
    headers = [os.path.join(sys.argv[1], name) for name in SOURCES]
    found = read_headers(path for path in headers if os.path.exists(path))
    with open(LIST, encoding='utf-8') as listed:
        known = dict(line.split() for line in listed)
    if not os.path.exists(headers[-1]):
        known = {name: value for name, value in known.items()
                 if not name.lower().startswith(('tfx_cuda', 'tfxcuda'))}

    faults = [f'added: {name}' for name in found if name not in known]
    faults += [f'removed: {name}' for name in known if name not in found]
    faults += [f'changed: {name}' for name in found
               if known.get(name, found[name]) != found[name]]
    for library in sys.argv[2:]:
        functions = {name for name in found if name.startswith('tfx_')}
        exported = find_exported(library)
        faults += [f'exported: {name}' for name in exported - functions]
        faults += [f'not exported: {name}' for name in functions - exported]
    print('\n'.join(sorted(faults)) or f'{len(found)} names')
    if faults:
        print('intended? tests/library/abi.py --write')
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
