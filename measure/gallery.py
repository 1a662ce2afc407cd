#!/usr/bin/env python3
"""The table of the gallery, as Markdown, from boards: a line for each task's leader by a model.

    winnow baseline torch TASK... --device cuda --store gallery.db
    winnow run gallery --device cuda --store gallery.db
    winnow leaderboard --store gallery.db --json | python3 measure/gallery.py
"""
import json
import re
import sys


def leaders(rows):
    """By task: the kernel with the best rank of those that a model wrote."""
    best = {}
    for row in rows:
        if row["origin"] == "model" and row["rank"] <= best.get(row["task"], row)["rank"]:
            best[row["task"]] = row
    return best


def interval(low, high):
    return f"{low:.2f} to {high:.2f}" if low and high else ""


def line(row):
    alternative = re.sub(r" \d+\.\d+\.\d+\S*$", "", row["best_alternative"] or "")
    beside = f"{row['versus_best']:.2f}x" if row["versus_best"] else ""
    cells = [row["task"], f"{row['score_ns'] / 1e3:.1f}", alternative, beside,
             interval(row["versus_best_low"], row["versus_best_high"]) if beside else "",
             f"{row['speedup']:.2f}x", f"{100 * row['of_light']:.0f} %" if row["of_light"] else "",
             "fitted" if row["fitted"] else ""]
    return "| " + " | ".join(cells) + " |"


def main():
    rows = leaders(json.load(sys.stdin)["rows"]).values()
    timed = sorted((r for r in rows if r["versus_best"]), key=lambda r: -r["versus_best"])
    others = sorted((r for r in rows if not r["versus_best"]), key=lambda r: -r["speedup"])
    print("| task | us | best alternative | vs best | 95 % | over baseline.cu | of light | |")
    print("|---|---:|---|---:|---|---:|---:|---|")
    for row in timed + others:
        print(line(row))
    wins = sum(bool(r["versus_best_low"]) and r["versus_best_low"] > 1 for r in timed)
    losses = sum(bool(r["versus_best_high"]) and r["versus_best_high"] < 1 for r in timed)
    print(f"\n{len(timed)} tasks have a best alternative: {wins} kernels are faster, {losses} slower; "
          f"{sum(bool(r['fitted']) for r in rows)} of {len(rows)} are fitted to the shown shapes")


if __name__ == "__main__":
    main()
