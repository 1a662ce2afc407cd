#!/usr/bin/env python3
"""Copies the only run of a store several times, to have a large store soon.

    python3 bench/scale_copies.py STORE COPIES

Each copy is a run of its own, with kernel files, calls, evaluations, cases, samples, events and logs. The speedups of
a copy differ by up to 5 %. Only for benchmarks: such a store measures how long a board takes, and nothing else.
"""

import sqlite3
import sys

# Tables whose rows are copied, and the tables to which their columns refer.
COPIED = {
    "kernel_files": {},
    "model_calls": {"run_id": "runs"},
    "call_prompts": {"call_id": "model_calls"},
    "candidates": {"run_id": "runs", "call_id": "model_calls", "parent_id": "candidates",
                   "kernel_file_id": "kernel_files"},
    "candidate_parents": {"candidate_id": "candidates", "parent_id": "candidates"},
    "variants": {"candidate_id": "candidates"},
    "builds": {},
    "evaluations": {"candidate_id": "candidates", "variant_id": "variants", "build_id": "builds",
                    "superseded_by": "evaluations"},
    "cases": {"evaluation_id": "evaluations"},
    "sample_series": {"case_id": "cases"},
    "events": {"run_id": "runs"},
    "search_log": {"run_id": "runs"},
}
FASTER = "(1 + ((e.id * 2654435761 + ?1 * 40503) % 1000 - 500) / 10000.0)"
OTHER_DIGEST = "printf('x%03d', ?1) || substr(e.{0}, 5)"
CHANGED = {
    ("kernel_files", "digest"): OTHER_DIGEST.format("digest"),
    ("builds", "digest"): OTHER_DIGEST.format("digest"),
    ("evaluations", "kernel"): OTHER_DIGEST.format("kernel"),
    ("evaluations", "speedup"): f"e.speedup * {FASTER}",
    ("evaluations", "speedup_low"): f"e.speedup_low * {FASTER}",
    ("evaluations", "speedup_high"): f"e.speedup_high * {FASTER}",
}


def columns_of(store, table):
    return [row[1] for row in store.execute(f"PRAGMA table_info({table})")]


def copy(store, number, sizes):
    store.execute("INSERT INTO runs (name, status, config, started_at) "
                  "SELECT name || ' copy ' || ?, status, config, started_at FROM runs WHERE id = 1", (number,))
    for table, references in COPIED.items():
        columns = columns_of(store, table)
        values = []
        for column in columns:
            table_referred = table if column == "id" else references.get(column)
            if table_referred:
                values.append(f"e.{column} + ?1 * {sizes[table_referred]}")
            else:
                values.append(CHANGED.get((table, column), f"e.{column}"))
        first = f" WHERE e.id <= {sizes[table]}" if "id" in columns else ""
        if "run_id" in columns:
            first = " WHERE e.run_id = 1"
        elif not first:
            key, referred = next(iter(references.items()))
            first = f" WHERE e.{key} <= {sizes[referred]}"
        store.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} AS e{first}",
                      (number,))


def main():
    store = sqlite3.connect(sys.argv[1], isolation_level=None)
    store.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000;")
    sizes = {table: store.execute(f"SELECT max(id) FROM {table}").fetchone()[0]
             for table in {"runs", *COPIED} if "id" in columns_of(store, table)}
    for number in range(1, int(sys.argv[2]) + 1):
        store.execute("BEGIN")
        copy(store, number, sizes)
        store.execute("COMMIT")
        print(f"copy {number}: {store.execute('SELECT count(*) FROM evaluations').fetchone()[0]} evaluations", flush=True)
    store.execute("PRAGMA journal_mode = WAL")


if __name__ == "__main__":
    main()
