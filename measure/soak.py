#!/usr/bin/env python3
"""A server with everything at once for a long time: soak.py WINNOW [SECONDS [CONNECTIONS]].

The hostile connections of hostile_bench.py; an owner whose kernels are right, wrong, endless, broken or not to compile; one that goes
away before its answer; one that cancels its jobs; readers of boards, tasks and metrics. Every tenth second the memory, the descriptors
and the processes of the server are counted. None may be higher at the end than in the second tenth of the time, beside noise."""
import http.client
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
import time

SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 1800
CONNECTIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 500
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from hostile_bench import HONEST, SOURCES, Server, attack, memory_mb  # noqa: E402

EVERY_S = 10
MOST_GROWTH = {"memory MB": 1.15, "descriptors": 1.1, "processes": 1.5}


def ask(port, method, target, body=None, timeout=320):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, target, body and json.dumps(body), {"Authorization": "Bearer " + HONEST})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def kernels():
    """One text after the other, each with a name of its own: right ones, and those of tests/buggy that are judged, and quickly."""
    good = (SOURCES / "tasks/catalogue/blas/axpy/baseline.cu").read_text()
    bad = [(one["task"], (SOURCES / "tests/buggy" / one["file"]).read_text())
           for one in json.loads((SOURCES / "tests/buggy/expected.json").read_text()) if one["verdict"] not in ("over_limit", "timeout", "unsupported")]
    number = 0
    while True:
        for task, text in [("axpy", good)] * 4 + [bad[number % len(bad)]]:
            number += 1
            yield {"id": str(number), "task": task, "kernel": f"{text}\n// {os.getpid()} {number}\n"}


def forever(act, port, counts, name):
    os.nice(5)
    source = kernels()
    while True:
        try:
            act(port, source)
            counts[name] = counts.get(name, 0) + 1
        except (OSError, http.client.HTTPException, ValueError) as error:
            counts[name + " refused"] = counts.get(name + " refused", 0) + 1
            if name == "waits":
                print(f"refused: {error!r}", flush=True)
            time.sleep(0.5)


def waits(port, source):
    status, body = ask(port, "POST", "/v1/judge", {"items": [next(source) for _ in range(5)], "depth": "correct", "wait_s": 300})
    if status != 200 or any(result["fault"] for result in json.loads(body)["results"]):
        raise ValueError(body[:200])


def goes_away(port, source):
    try:
        ask(port, "POST", "/v1/judge", {"items": [next(source)], "depth": "correct", "wait_s": 300}, timeout=0.3)
    except TimeoutError:
        pass
    time.sleep(2)


def cancels(port, source):
    _, body = ask(port, "POST", "/v1/judge", {"items": [next(source)], "depth": "correct", "wait_s": 0})
    ask(port, "DELETE", "/v1/jobs/" + json.loads(body)["jobs"][0]["job"])
    time.sleep(2)


def reads(port, source):
    for target in ("/", "/v1/tasks", "/v1/tasks/axpy", "/metrics", "/v1/health", "/v1/jobs/none"):
        ask(port, "GET", target)
    time.sleep(1)


def descendants(pid):
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = 0, [pid]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += len(own)
        waiting += own
    return found


def sample(server):
    return {"memory MB": memory_mb(server, "VmRSS"), "descriptors": len(os.listdir(f"/proc/{server.process.pid}/fd")),
            "processes": descendants(server.process.pid)}


def report(samples, counts):
    tenth = max(len(samples) // 10, 1)
    print(f"{len(samples) * EVERY_S} s, {CONNECTIONS} hostile connections; " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    grown = []
    for name, most in MOST_GROWTH.items():
        values = [one[name] for one in samples]
        early, late = statistics.median(values[tenth:2 * tenth] or values), statistics.median(values[-tenth:])
        print(f"{name}: {early:.0f} in the second tenth of the time, {late:.0f} in the last, {max(values):.0f} at most")
        if late > early * most + 2:
            grown.append(name)
    if grown or counts.get("waits refused"):
        raise SystemExit("not flat, or refused: " + ", ".join(grown))


def main():
    with tempfile.TemporaryDirectory() as folder:
        tokens = pathlib.Path(folder) / "tokens"
        tokens.touch(0o600)
        tokens.write_text(f"honest {HONEST}\nhostile hostile-0123456789abcdef\n")
        server = Server(sys.argv[1], "serve", "--judge", "--store", pathlib.Path(folder) / "s.db", "--device", "cpu", "--token-file", tokens)
        counts, ready = multiprocessing.Manager().dict(), multiprocessing.Event()
        workers = [multiprocessing.Process(target=attack, args=(server.port, CONNECTIONS, ready))]
        workers += [multiprocessing.Process(target=forever, args=(act, server.port, counts, act.__name__))
                    for act in (waits, goes_away, cancels, reads)]
        samples = []
        try:
            for worker in workers:
                worker.start()
            for i in range(SECONDS // EVERY_S):
                time.sleep(EVERY_S)
                samples.append(sample(server))
                if i % 12 == 11:
                    print(f"{(i + 1) * EVERY_S} s:", *(f"{value:.0f} {name}" for name, value in samples[-1].items()), flush=True)
        finally:
            for worker in workers:
                worker.terminate()
            server.kill()
    report(samples, dict(counts))


if __name__ == "__main__":
    main()
