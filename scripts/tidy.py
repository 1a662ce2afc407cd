#!/usr/bin/env python3
"""Runs clang-tidy 14 over C++ sources.

    scripts/tidy.py [--changed] [FILE...]

Takes the commands of build/ci (`cmake --preset ci` writes them), and all sources that they compile, or only the FILEs.
--changed: only the sources that differ from the checkout's upstream/main; where that has nothing else than the last
commit, as in a clean clone, the sources of the last commit. A changed header counts as the source of its name; one
without such a source, as a source that includes it. Changes in more than MOST_LIBRARIES libraries or test programs are
not checked with --changed: that would take minutes.

Sources that have one command are checked as one unit, because most of the time goes into the headers that they share.
Exit code: 0 no finding, 1 some, 2 no commands.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATABASE = ROOT / "build/ci/compile_commands.json"
INCLUDE = re.compile(r'^#include "(.*)"', re.M)
MOST_LIBRARIES = 4
AT_ONCE = 48  # sources of a unit, so that it fits into memory


def git(*arguments):
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.split() if found.returncode == 0 else []


def changed():
    bases = git("merge-base", "upstream/main", "HEAD")
    if not bases or bases == git("rev-parse", "HEAD"):
        bases = git("rev-parse", "HEAD^")
    names = git("diff", "--name-only", bases[0] if bases else "HEAD")
    return {name for name in (source_of(name) for name in names if name.endswith((".cpp", ".h"))) if name}


def source_of(name):
    source = (ROOT / name).with_suffix(".cpp")
    if source.exists():
        return str(source)
    includers = git("grep", "-lF", f'#include "{name}"', "--", "*.cpp")
    return str(ROOT / includers[0]) if includers else None


def arguments_of(command):
    """Without the compiler, the input, the output and the precompiled headers (only the build's own clang++ reads them)."""
    kept, words = [], iter(shlex.split(command)[1:])
    for word in words:
        if word in ("-Xclang", "-o", "-c"):
            next(words)
        elif word != "-Winvalid-pch":
            kept.append(word)
    return tuple(kept)


def libraries():
    """The sources of each command. A unity build's source is a list of includes."""
    if not DATABASE.exists():
        print(f"{DATABASE}: not found: run cmake --preset ci", file=sys.stderr)
        sys.exit(2)
    found, seen = {}, set()
    for entry in json.loads(DATABASE.read_text()):
        file = pathlib.Path(entry["file"])
        united = file.parent.name == "Unity" and file.exists()
        for source in INCLUDE.findall(file.read_text()) if united else [str(file)]:
            if source not in seen and not source.startswith(str(ROOT / "build")):
                seen.add(source)
                found.setdefault((file.parents[1 if united else 0], arguments_of(entry["command"])), []).append(source)
    return found


def check(unit):
    arguments, sources = unit
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "unit.cpp"
        path.write_text("".join(f'#include "{source}"\n' for source in sources))
        told = subprocess.run(["clang-tidy-14", f"--config-file={ROOT}/.clang-tidy", "--quiet",
                               "--checks=-bugprone-suspicious-include",  # of the unit itself
                               path, "--", *arguments], cwd=ROOT, capture_output=True, text=True)
    if told.returncode:
        print(told.stdout + re.sub(r"^\d+ warnings.*generated\.\n", "", told.stderr, flags=re.M), flush=True)
    return told.returncode == 0


def main(arguments):
    wanted = {str(pathlib.Path(name).resolve()) for name in arguments if name != "--changed"}
    some = "--changed" in arguments
    if some:
        wanted |= changed()
    found = [(key[1], [source for source in sources if source in wanted or not (some or wanted)])
             for key, sources in libraries().items()]
    found = [(command, sources) for command, sources in found if sources]
    if some and len(found) > MOST_LIBRARIES:
        print(f"tidy: changes of {len(found)} libraries: clang-tidy checks none; run scripts/lint.sh", file=sys.stderr)
        return 0
    units = [(command, sources[at:at + AT_ONCE]) for command, sources in found for at in range(0, len(sources), AT_ONCE)]
    with ThreadPoolExecutor(1 if some else os.cpu_count()) as pool:
        return 0 if all(list(pool.map(check, units))) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
