#!/usr/bin/env python3
"""Fills one store in stages with scale_bench, and times the board after each stage.

    python3 bench/scale.py build/release STORE --stages 10000 100000 [--without-broker 1000000] [-- OPTIONS]

BUILD has the programs winnow and scale_bench. Each stage is a run of its own, until the store has so
many evaluations. The stages of --without-broker come last; their judges are in the process of the
coordinator. OPTIONS go to scale_bench.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

REPEATS = 3


def run_measured(command):
    """Seconds, CPU seconds, peak memory in MB and bytes of the output of a program that must succeed."""
    with tempfile.TemporaryFile() as output:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {child.returncode}")
        cpu = usage.ru_utime + usage.ru_stime
        return seconds, cpu, usage.ru_maxrss / 1000, os.fstat(output.fileno()).st_size


def report(what, command):
    runs = sorted(run_measured(command) for _ in range(REPEATS))
    seconds, cpu, peak, size = runs[REPEATS // 2]
    print(f"  {what:<28} {seconds:8.2f} s  CPU {cpu:6.2f} s  peak {peak:6.0f} MB  {size / 1e6:6.2f} MB of output",
          flush=True)


def get(url, timeout):
    begin = time.monotonic()
    with urllib.request.urlopen(url, timeout=timeout) as reply:
        size = len(reply.read())
    return time.monotonic() - begin, size


def measure_server(winnow, store):
    address = "127.0.0.1:8799"
    server = subprocess.Popen([winnow, "serve", "--store", store, "--bind", address],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        begin = time.monotonic()
        while True:
            try:
                get(f"http://{address}/version", 60)
                break
            except OSError:
                if server.poll() is not None or time.monotonic() - begin > 600:
                    sys.exit("winnow serve does not answer")
                time.sleep(0.02)
        print(f"  serve: answers after         {time.monotonic() - begin:8.2f} s")
        for which in ("first page", "the same page again"):
            seconds, size = get(f"http://{address}/", 3600)
            print(f"  serve: {which:<21} {seconds:8.2f} s  {size / 1e6:6.2f} MB", flush=True)
    finally:
        with open(f"/proc/{server.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        print(f"  serve: in all                CPU {cpu:6.2f} s", flush=True)
        server.terminate()
        server.wait()


def measure_board(winnow, store, run):
    report("leaderboard", [winnow, "leaderboard", "--store", store])
    report("leaderboard of one run", [winnow, "leaderboard", "--store", store, "--run", run])
    report("export html", [winnow, "export", "html", "--store", store])
    measure_server(winnow, store)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("store")
    parser.add_argument("--stages", type=int, nargs="*", default=[])
    parser.add_argument("--without-broker", type=int, nargs="*", default=[])
    parser.add_argument("--begin", type=int, default=0, help="evaluations that the store has already")
    parser.add_argument("options", nargs="*")
    given = parser.parse_args()
    before = given.begin
    stages = [(stage, False) for stage in given.stages] + [(stage, True) for stage in given.without_broker]
    for stage, is_local in stages:
        run = f"until-{stage}"
        print(f"== {stage} evaluations, {'without' if is_local else 'through'} the broker", flush=True)
        command = [f"{given.build}/scale_bench", "--store", given.store, "--run", run,
                   "--evaluations", str(stage - before), *given.options]
        subprocess.run(command + ["--without-broker"] * is_local, check=True)
        before = stage
        measure_board(f"{given.build}/winnow", given.store, run)


if __name__ == "__main__":
    main()
