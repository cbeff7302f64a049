# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that no two files of dsp/, cuda/ or gst/ need each other.

    house.py [ROOT]

A file is a .c with the .h of its name, as one.  What is included as text (a
template, a .c, a .inc) belongs to the file that includes it, and the files of
the instruction sets (kernels-vec.c, kernels-c.c) are one with what they are for.

- No files call each other in a circle.  A call is the name of a function, or of
  a table, that another file defines; names that macros put together are not
  seen.
- No files include each other in a circle.
- Folders need each other one way: gst, cuda, dsp, and no folder within them is
  in a circle with another one.

Prints each circle with the calls or the includes that close it.  Exits with 1
if there is any.
"""

import collections
import os
import re
import sys

TOPS = {"dsp": (), "cuda": ("dsp",), "gst": ("cuda", "dsp")}
INSTRUCTION_SET = re.compile(r"-(c|vec|sse2|avx2|avx512)$")
NOT_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\"", re.M)
NAME = re.compile(r"\b(?:gst_)?tfx_\w+")
# Both at the start of a line, as the sources are formatted.
FUNCTION = re.compile(r"^((?:gst_)?tfx_\w+) \([^;{}]*\)\s*\{", re.M)
TABLE = re.compile(r"^(?!static|extern|typedef)\w[\w ]*[ *]((?:gst_)?tfx_\w+)"
                   r"(?:\[[^\]]*\])* = ", re.M)


def without_comments(text):
    """The text with the lines that it has, and no comments and strings."""
    return NOT_CODE.sub(lambda m: "\n" * m[0].count("\n") or " ", text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class House:
    def __init__(self, root):
        self.root = root
        self.text = {}  # path: the text
        self.code = {}  # path: the text without comments and strings
        self.includes = {}  # path: [(path, line)]
        self.owner = {}  # path of what is included as text: the includer
        # file: {file: (path, line, name)}, the first call of each
        self.calls = collections.defaultdict(dict)
        self.read()
        self.find_includes()
        self.find_calls()

    def read(self):
        for top in TOPS:
            for folder, _, names in os.walk(os.path.join(self.root, top)):
                for name in sorted(names):
                    if not name.endswith((".c", ".h", ".cu", ".inc")):
                        continue
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as source:
                        text = source.read()
                    path = os.path.relpath(path, self.root)
                    self.text[path] = text
                    self.code[path] = without_comments(text)

    def resolve(self, path, name):
        """The file that an #include means: beside it, in the folder above of
        that name, or wherever there is one."""
        near = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if near in self.text:
            return near
        found = [p for p in self.text if p.endswith("/" + name)]
        top = path.split("/")[0]
        found.sort(key=lambda p: (p.split("/")[0] != top, len(p), p))
        return found[0] if found else None

    def find_includes(self):
        for path, text in self.text.items():
            self.includes[path] = []
            for match in INCLUDE.finditer(text):
                found = self.resolve(path, match[1])
                if not found or found == path:
                    continue
                self.includes[path].append((found, line_of(text, match.start())))
                if found.endswith((".c", ".inc")):
                    self.owner.setdefault(found, path)

    def file(self, path):
        """What a path belongs to, without its suffix."""
        seen = set()
        while path in self.owner and path not in seen:
            seen.add(path)
            path = self.owner[path]
        return INSTRUCTION_SET.sub("", os.path.splitext(path)[0])

    def find_definitions(self):
        """name: the path that defines it.  Of two the one whose header declares
        it; the other one stands in for it in some builds."""
        definitions = {}
        for path in sorted(self.code):
            code = self.code[path]
            if not path.endswith(".c"):
                continue
            names = [m[1] for m in TABLE.finditer(code)]
            for match in FUNCTION.finditer(code):
                before = code[:match.start()].rstrip().rsplit("\n", 1)[-1]
                if "static" not in before.split():
                    names.append(match[1])
            for name in names:
                header = self.code.get(path[:-2] + ".h", "")
                if name not in definitions or name in NAME.findall(header):
                    definitions[name] = path
        return definitions

    def find_calls(self):
        definitions = self.find_definitions()
        for path in sorted(self.code):
            if path.endswith(".h"):
                continue
            for match in NAME.finditer(self.code[path]):
                found = definitions.get(match[0])
                if not found or self.file(found) == self.file(path):
                    continue
                self.calls[self.file(path)].setdefault(self.file(found), (
                    path, line_of(self.code[path], match.start()), match[0]))


def find_components(graph):
    """The sets of nodes that can reach each other (Tarjan), of two or more."""
    order, low, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            component = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(component) > 1:
                found.append(set(component))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def find_circle(graph, component, start):
    """The shortest way from a node to itself."""
    before, queue = {}, collections.deque([start])
    while queue:
        node = queue.popleft()
        for other in sorted(graph.get(node, ())):
            if other == start:
                way = [node]
                while way[0] != start:
                    way.insert(0, before[way[0]])
                return way
            if other in component and other not in before:
                before[other] = node
                queue.append(other)
    return []


def list_circles(graph):
    """Circles that between them have all nodes that are in any."""
    for component in find_components(graph):
        left = set(component)
        circles = []
        while left:
            circle = min((find_circle(graph, component, node)
                          for node in sorted(left)), key=len)
            circles.append(circle)
            left -= set(circle)
        yield component, circles


def report(what, graph, tell):
    n = 0
    for component, circles in list_circles(graph):
        n += 1
        print(f"{len(component)} {what} in a circle: "
              f"{', '.join(sorted(component))}")
        for circle in circles:
            for node, other in zip(circle, circle[1:] + circle[:1]):
                print("  " + tell(node, other))
            print()
    return n


def find_folders(house):
    """folder: {folder: text that says who needs whom}"""
    graph = collections.defaultdict(dict)

    def add(path, other, how):
        a, b = os.path.dirname(path), os.path.dirname(other)
        if a != b:
            graph[a].setdefault(b, how)

    for path, others in house.includes.items():
        for other, line in others:
            add(path, other, f"{path}:{line} includes {other}")
    for name, others in house.calls.items():
        for other, (path, line, call) in others.items():
            add(name, other, f"{path}:{line} calls {call} of {other}")
    return graph


def check_tops(folders):
    n = 0
    for folder, others in sorted(folders.items()):
        top = folder.split("/")[0]
        for other, how in sorted(others.items()):
            if other.split("/")[0] not in (top,) + TOPS[top]:
                n += 1
                print(f"{top}/ does not need {other.split('/')[0]}/: {how}")
    return n


def main():
    house = House(sys.argv[1] if len(sys.argv) > 1 else ".")
    if not house.text:
        sys.exit("there are no sources")
    includes = {path: {p: line for p, line in others}
                for path, others in house.includes.items()}
    folders = find_folders(house)

    def tell_call(a, b):
        path, line, name = house.calls[a][b]
        return f"{path}:{line} calls {name} of {b}"

    n = report("files call each other", house.calls, tell_call)
    n += report("files include each other", includes,
                lambda a, b: f"{a}:{includes[a][b]} includes {b}")
    n += check_tops(folders)
    n += report("folders need each other", folders,
                lambda a, b: folders[a][b])
    return 1 if n else 0


if __name__ == "__main__":
    sys.exit(main())
