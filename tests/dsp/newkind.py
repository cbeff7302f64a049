# SPDX-License-Identifier: LGPL-2.1-or-later
"""newkind.py CONTRIBUTING.md SOURCE OUTPUT: adds the lines that CONTRIBUTING.md
shows for a new kind of stage to the files of SOURCE, and writes these to the folder
OUTPUT.  Fails if a place is not found, or if there are more than three lines."""
import pathlib
import re
import sys


def main(page, source, output):
    block = re.search(r"^```diff\n(.*?)^```", page.read_text(), re.M | re.S)[1]
    added = 0
    for part in re.split(r"^--- ", block, flags=re.M)[1:]:
        name, *lines = part.splitlines()
        text = (source / name).read_text()
        for before, line in zip(lines, lines[1:]):
            if not line.startswith("+"):
                continue
            place = before[1:] + "\n"
            if text.count(place) != 1:
                sys.exit(f"{page.name}: {name} has {text.count(place)} lines "
                         f"'{before[1:]}', not one")
            text = text.replace(place, place + line[1:] + "\n")
            added += 1
        (output / pathlib.Path(name).name).write_text(text)
    if not 1 <= added <= 3:
        sys.exit(f"{page.name}: a new kind takes {added} lines, not 1 to 3")


main(*map(pathlib.Path, sys.argv[1:]))
