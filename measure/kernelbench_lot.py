#!/usr/bin/env python3
"""Draws 100 problems of KernelBench by lot: 40, 40 and 20 of levels 1, 2 and 3.

    python3 measure/kernelbench_lot.py CHECKOUT/KernelBench

The seed was committed before the first reply, so nobody has chosen the problems. Problems are
sorted by their numbers; the lot is a permutation by the digests of seed and name, which is the same
in every version of Python. Prints one LEVEL/NAME a line.
"""

import hashlib
import pathlib
import sys

SEED = "winnow 2026-11-30"
DRAWN = {"level1": 40, "level2": 40, "level3": 20}


def number(name):
    return int(name.split("_")[0])


def drawn(folder):
    """The problems of one level that the lot says, in the order of their numbers."""
    names = sorted((p.stem for p in folder.glob("[0-9]*_*.py")), key=number)
    luck = {name: hashlib.sha256(f"{SEED} {folder.name} {name}".encode()).hexdigest() for name in names}
    return sorted(sorted(names, key=luck.get)[: DRAWN[folder.name]], key=number)


def main():
    checkout = pathlib.Path(sys.argv[1])
    for level in DRAWN:
        for name in drawn(checkout / level):
            print(f"{level}/{name}")


if __name__ == "__main__":
    main()
