#!/usr/bin/env python3
"""What finals repeat: compares stores in which the same recorded run was made again and again.

    for i in 1 2 3 4 5; do winnow run configs/quickstart.toml --device cpu --store repeat$i.db; done
    python3 bench/repeated_finals.py repeat?.db

Prints, as Markdown, how many pairs of ranked rows contradict a race of their final (the query of
docs/store.md), and how often the interval of a row holds the speedup that another run's final finds
for the same kernel file.
"""
import pathlib
import re
import sqlite3
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def query_of_the_page():
    page = (ROOT / "docs/store.md").read_text()
    return re.search(r"```sql\n(SELECT a\.task.*?)```", page, re.S).group(1)


def rows_of(store):
    """(task, file) -> rank, speedup, low, high; without baselines."""
    query = """SELECT task, substr(digest, 1, 8), rank, speedup, speedup_low, speedup_high
               FROM leaderboard WHERE rank > 0 AND sitting_id IS NOT NULL AND origin <> 'baseline'"""
    return {row[:2]: row[2:] for row in store.execute(query)}


def pairs_of(store):
    query = """SELECT count(*) FROM races AS r
               JOIN leaderboard AS a ON a.kernel = r.kernel AND a.device_name = r.device_name
               JOIN leaderboard AS b ON b.kernel = r.rival AND b.group_id = a.group_id
               WHERE a.rank > 0 AND b.rank > 0 AND r.evaluator_version = a.evaluator_version"""
    return store.execute(query).fetchone()[0]


def holds(row, other):
    return row[2] <= other[1] <= row[3]


def held(pairs):
    found = [holds(one[key], other[key]) for one, other, most in pairs for key in one
             if key in other and one[key][0] <= most]
    return f"{sum(found)} of {len(found)} ({100 * sum(found) / max(1, len(found)):.0f} %)"


def cell(runs, number, key):
    if key not in runs[number]:
        return "-"
    row = runs[number][key]
    text = f"{row[1]:.3g} [{row[2]:.3g}, {row[3]:.3g}]"
    if number + 1 < len(runs) and key in runs[number + 1]:
        text += " yes" if holds(row, runs[number + 1][key]) else " **no**"
    return text


def main(paths):
    if len(paths) < 2:
        sys.exit(__doc__)
    stores = [sqlite3.connect(f"file:{path}?mode=ro", uri=True) for path in paths]
    counts = [(len(store.execute(query_of_the_page()).fetchall()), pairs_of(store)) for store in stores]
    print("contradictions:", ", ".join(f"{bad} of {pairs} pairs" for bad, pairs in counts), "\n")
    runs = [rows_of(store) for store in stores]
    following = list(zip(runs, runs[1:]))
    others = [(one, other) for one in runs for other in runs if one is not other]
    print("| pairs | held |\n|---|---|")
    print(f"| rank 1 to 3, each run and the next | {held([(*pair, 3) for pair in following])} |")
    print(f"| rank 1 to 3, each run and each other | {held([(*pair, 3) for pair in others])} |")
    print(f"| all ranks, each run and the next | {held([(*pair, 10**9) for pair in following])} |\n")
    leaders = sorted({key for run in runs for key, row in run.items() if row[0] <= 3})
    print("| task | file |", " | ".join(f"run {i + 1}" for i in range(len(runs))), "|")
    print("|---|---|" + "---|" * len(runs))
    for key in leaders:
        print("|", " | ".join([*key, *(cell(runs, i, key) for i in range(len(runs)))]), "|")


if __name__ == "__main__":
    main(sys.argv[1:])
