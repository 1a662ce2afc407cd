#!/usr/bin/env python3
"""Fails on an include that ARCHITECTURE.md does not allow, and on a circle of files or of folders.

    scripts/check-layers.py [FOLDER]

Reads the table under "Which folder may include which" in FOLDER/ARCHITECTURE.md (default: the
project) and every .h, .cpp and .cu file below the folders that the table names. Folders, at any
depth, stand in a circle if the includes of their files lead from each to all others and back; tests
and test doubles do not count. Prints FILE:LINE for each mistake. Exit code: 0 none, 1 some, 2 the
table is missing or wrong.
"""
import os
import re
import sys

INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
ROW = re.compile(r"\|\s*`([a-z_/]+)`\s*\|([^|]*)\|\s*$")
SUFFIXES = (".h", ".cpp", ".cu")
FOR_TESTS = re.compile(r"/(testing|samples)/|_test\.|_fake|_fixture|test_support")


def read_table(root):
    path = os.path.join(root, "ARCHITECTURE.md")
    allowed, inside = {}, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                inside = "may include which" in line
            row = ROW.match(line) if inside else None
            if row:
                allowed[row.group(1)] = set(re.findall(r"`([a-z_/]+)`", row.group(2)))
    if not allowed:
        sys.exit(f'{path}: no table under "Which folder may include which"')
    for folder, others in allowed.items():
        for name in {folder, *others}:
            if name not in allowed or not os.path.isdir(os.path.join(root, name)):
                print(f"{path}: there is no folder `{name}`, or no row for it", file=sys.stderr)
                sys.exit(2)
    return allowed


def files_below(root, folder):
    for path, folders, names in os.walk(os.path.join(root, folder)):
        # Device code's own headers stand for a toolkit's: nothing of the project includes them.
        folders[:] = sorted(f for f in folders if os.path.join(path, f) != os.path.join(root, "evaluators/device/headers"))
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                yield os.path.relpath(os.path.join(path, name), root)


def includes_of(root, file):
    with open(os.path.join(root, file), encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)


def find_circle(graph):
    done, path = set(), []

    def visit(file):
        if file in path:
            return path[path.index(file):] + [file]
        if file in done:
            return None
        path.append(file)
        for _, other in graph.get(file, ()):
            circle = visit(other)
            if circle:
                return circle
        path.pop()
        done.add(file)
        return None

    sys.setrecursionlimit(10000)
    for file in graph:
        circle = visit(file)
        if circle:
            return circle
    return None


def arrows_between_folders(graph):
    """By folder and folder that it includes: the first such include."""
    arrows = {}
    for file, includes in sorted(graph.items()):
        for number, other in includes:
            ends = os.path.dirname(file), os.path.dirname(other)
            if ends[0] != ends[1] and other in graph and not FOR_TESTS.search(file) and not FOR_TESTS.search(other):
                arrows.setdefault(ends, f'{file}:{number}: `{ends[0]}` includes "{other}"')
    return arrows


def reachable(folder, arrows):
    found, rest = set(), [folder]
    while rest:
        start = rest.pop()
        new = {end for begin, end in arrows if begin == start} - found
        found |= new
        rest.extend(new)
    return found


def circles_of_folders(arrows):
    reached = {folder: reachable(folder, arrows) for arrow in arrows for folder in arrow}
    circles = {frozenset(other for other in others if folder in reached[other])
               for folder, others in reached.items() if folder in others}
    return sorted(sorted(circle) for circle in circles)


def print_circles_of_folders(graph):
    arrows = arrows_between_folders(graph)
    circles = circles_of_folders(arrows)
    for circle in circles:
        print(f"{len(circle)} folders include each other in a circle; "
              "move or split files so that these includes run one way:")
        for (begin, end), place in sorted(arrows.items()):
            if begin in circle and end in circle:
                print(f"  {place}")
    return len(circles)


def print_circle_of_files(graph):
    circle = find_circle(graph) or []
    for file, other in zip(circle, circle[1:]):
        line = next(number for number, name in graph[file] if name == other)
        print(f'{file}:{line}: part of a circle of includes: "{other}"')
    return 1 if circle else 0


def main():
    root = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    allowed = read_table(root)
    graph, mistakes = {}, 0
    for folder in allowed:
        for file in files_below(root, folder):
            graph[file] = list(includes_of(root, file))
            for number, other in graph[file]:
                target = other.split("/")[0]
                if target == folder or target not in allowed or target in allowed[folder]:
                    continue
                print(f"{file}:{number}: `{folder}` may not include \"{other}\" (ARCHITECTURE.md: which folder may include which)")
                mistakes += 1
    mistakes += print_circle_of_files(graph) + print_circles_of_folders(graph)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
