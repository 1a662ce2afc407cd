#!/usr/bin/env python3
"""How fast a search finds fast kernels: the best speedup after so many calls, by run and task.

    python3 bench/speedup_by_calls.py STORE...

Prints a Markdown table. A call counts when it was made, in the order of the calls. Its kernel
counts with the highest speedup over the baseline of its evaluations in full, without finals.
"""
import contextlib
import sqlite3
import sys

CALLS = (1, 2, 4, 8, 12)

QUERY = """
SELECT r.name, t.name, m.id,
       (SELECT max(e.speedup) FROM candidates AS c JOIN evaluations AS e ON e.candidate_id = c.id
        JOIN verdicts AS v ON v.number = e.verdict
        WHERE c.call_id = m.id AND v.name = 'correct' AND e.turns IS NULL)
FROM model_calls AS m JOIN runs AS r ON r.id = m.run_id JOIN tasks AS t ON t.id = m.task_id
WHERE m.reply IS NOT NULL ORDER BY r.name, t.name, m.id"""


def best_by_call(path):
    """(run, task) -> the best speedup after each call; 0: no correct kernel yet."""
    best = {}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
        for run, task, _, speedup in store.execute(QUERY):
            so_far = best.setdefault((run, task), [])
            so_far.append(max(so_far[-1] if so_far else 0, speedup or 0))
    return best


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print("| task | run | calls | " + " | ".join(f"after {n}" for n in CALLS) + " |")
    print("|---|---|" + "---|" * (len(CALLS) + 1))
    rows = {key: best for path in sys.argv[1:] for key, best in best_by_call(path).items()}
    for (run, task), best in sorted(rows.items(), key=lambda row: (row[0][1], row[0][0])):
        cells = [f"{best[n - 1]:.2f}x" if n <= len(best) else "" for n in CALLS]
        print(f"| {task} | {run} | {len(best)} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
