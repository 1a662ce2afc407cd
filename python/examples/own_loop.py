#!/usr/bin/env python3
"""A search of thirty lines beside Winnow's own: hill climbing, whose model is a file of recorded replies.

    winnow serve --judge --store runs/loop.db --device cpu &
    PYTHONPATH=python python3 python/examples/own_loop.py configs/quickstart_replies.jsonl axpy reduce_sum
    winnow leaderboard --suite smoke --store runs/loop.db
"""
import argparse
import json

from winnow_client import Client, Run


def replies_of(task, path):
    """The replies that the file has for the task, in place of a model. A real loop shows its model the parent here."""
    with open(path, encoding="utf-8") as file:
        calls = [json.loads(line) for line in file]
    return [call for call in calls if call["key"].startswith(task + "/") and call.get("device", "cpu") == "cpu"]


def climb(run, task, replies):
    best = None
    for reply in replies:
        usage = reply.get("usage") or {}
        item = {"task": task, "reply": reply["reply"], "parents": [best["job"]] if best else [], "dollars": reply.get("dollars"),
                "tokens": {"input": usage.get("prompt_tokens"), "output": usage.get("completion_tokens")}}
        result, = run.judge([item])
        speed = result["speedup"]["value"] if result["speedup"] else 0
        print(f"{task}: {result['verdict']} {speed:.2f}x")
        if speed > 0 and (best is None or speed > best["speedup"]["value"]):
            best = result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Climbs with recorded replies, at the server of WINNOW_SERVER.")
    parser.add_argument("replies", help="a recording, as `winnow export recording` writes it")
    parser.add_argument("tasks", nargs="+", help="tasks of which the file has replies")
    parser.add_argument("--name", default="climb")
    options = parser.parse_args()
    with Run(Client(), options.name, "external:climb", "recorded-model", options.tasks) as own:
        for name in options.tasks:
            climb(own, name, replies_of(name, options.replies))
        print(json.dumps(own.show(), indent=1))
