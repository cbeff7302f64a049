# SPDX-License-Identifier: LGPL-2.1-or-later
# example.py: prints the worked examples of headers, to be compiled.
#
#   example.py HEADER... > examples.inc
#
# An example is what is indented in a header's first comment, from a line "For
# example, ...:" on.
import sys


def read_example(path):
    """The lines of code in the first comment of a header."""
    lines, inside = [], False
    with open(path, encoding='utf-8') as header:
        for line in header:
            text = line.rstrip('\n')
            if text == ' */' or (inside and text[:3] == ' * ' and
                                 text[:5] != ' *   '):
                break
            if inside:
                lines.append(text[5:])
            elif text.startswith(' * For example, ') and text.endswith(':'):
                inside = True
    if not any(lines):
        sys.exit(f'{path}: no example')
    return lines


for name in sys.argv[1:]:
    print('\n'.join(read_example(name)))
