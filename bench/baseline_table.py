#!/usr/bin/env python3
"""The table of the catalogue's baselines: `winnow baseline torch` and `winnow baseline table` for all tasks.

    python3 bench/baseline_table.py WINNOW OUT.md [--devices cuda:0,cuda:1] [--torch eager|compiled|no]
                                    [--torch-minutes 5] [--task-limit 60] [TASK...]

Each device has its own share of the tasks, and all devices work side by side. Two processes never
share a device, because each would slow the other's launches. With two devices or more the processes
still share the CPU. That changes few times: all are between two events on the device, and PyTorch's
have no time of Python in them, but for the exceptions in docs/baselines.md.

PyTorch comes first, because the table shows the stored times. When --torch-minutes are over, the
remaining tasks get no times of PyTorch. Each row is in OUT.md as soon as its task is timed. A second
run with the same OUT.md leaves out the tasks that OUT.md has. The stores are OUT.md.DEVICE.db.
"""
import argparse
import json
import subprocess
import sys
import threading
import time

HEAD_LINES = 2


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("winnow")
    parser.add_argument("out")
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--torch", choices=["eager", "compiled", "no"], default="eager")
    parser.add_argument("--torch-minutes", type=float, default=5)
    parser.add_argument("--task-limit", type=int, default=60, help="seconds")
    parser.add_argument("--python", default="python3", help="a Python with PyTorch")
    return parser.parse_intermixed_args()


def all_tasks(winnow):
    listed = subprocess.run([winnow, "tasks", "list", "--json"], check=True, capture_output=True, text=True)
    return [task["name"] for task in json.loads(listed.stdout)["tasks"]]


def done_tasks(out):
    try:
        with open(out) as file:
            return {line.split("|")[1].strip() for line in file if line.startswith("|")}
    except FileNotFoundError:
        return set()


class Share:
    """One device and its tasks."""

    lock = threading.Lock()  # of the output file

    def __init__(self, options, device, tasks):
        self.options, self.device, self.tasks = options, device, tasks
        self.store = f"{options.out}.{device.replace(':', '')}.db"
        self.has_store = False

    def run(self):
        deadline = time.monotonic() + 60 * self.options.torch_minutes
        for task in self.tasks if self.options.torch != "no" else []:
            left = min(self.options.task_limit, deadline - time.monotonic())
            if left <= 0:
                print(f"{self.device}: no time for PyTorch from {task} on", file=sys.stderr)
                break
            self.time_torch(task, left)
        self.print_table()

    def time_torch(self, task, seconds):
        command = [self.options.winnow, "baseline", "torch", task, "--device", self.device,
                   "--store", self.store, "--python", self.options.python]
        command += ["--eager"] if self.options.torch == "eager" else []
        command = ["timeout", "--kill-after=5", str(max(1, int(seconds)))] + command
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            reason = (result.stderr.strip().splitlines() or ["no message"])[-1]
            print(f"{task}: baseline torch ended with {result.returncode}: {reason}", file=sys.stderr)
        self.has_store = self.has_store or result.returncode in (0, 10)

    def print_table(self):
        command = [self.options.winnow, "baseline", "table", *self.tasks, "--device", self.device,
                   "--task-limit", f"{self.options.task_limit}s"]
        command += ["--store", self.store] if self.has_store else []
        head = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                with Share.lock, open(self.options.out, "a") as file:
                    if len(head) < HEAD_LINES:
                        head.append(line)
                        line = "".join(head) if len(head) == HEAD_LINES and file.tell() == 0 else ""
                    file.write(line)


def main():
    options = parse()
    done = done_tasks(options.out)
    tasks = [task for task in options.tasks or all_tasks(options.winnow) if task not in done]
    devices = options.devices.split(",")
    shares = [Share(options, device, tasks[i::len(devices)]) for i, device in enumerate(devices)]
    threads = [threading.Thread(target=share.run) for share in shares if share.tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    missing = set(tasks) - done_tasks(options.out)
    if missing:
        sys.exit("no rows: " + ", ".join(sorted(missing)))


main()
