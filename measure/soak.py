#!/usr/bin/env python3
"""A server with everything at once for a long time: soak.py WINNOW [SECONDS [CONNECTIONS]].

The hostile connections of hostile_bench.py; an owner whose kernels are right, wrong, endless, broken or not to compile; one that goes
away before its answer; one that cancels its jobs; readers of boards, tasks and metrics. Before the time begins, replies without a
kernel fill the cache of the store. The readers have kernels of their own, and no new ones: their page, which the server makes anew
whenever the store has changed, keeps its size. (A page of all kernels follows the store, up to 20 MB.) Every tenth second the server's
memory, descriptors and processes are read. Printed is the median of each tenth of the time. None may be higher in the last tenth than
in the second, beside noise. `anonymous` is what the server has allocated, `page` the size of the readers' page, `file` the pages of the
program, its libraries and shared memory, `judge` what the `_judge` child has allocated."""
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
from hostile_bench import HONEST, HOSTILE, SOURCES, Server, attack  # noqa: E402

READER = "reader-0123456789abcdef"

EVERY_S = 10
MOST_QUEUED = 10  # kernels of clients that went away
REPLIES, REPLY_BYTES = 1000, 16000  # more than the cache of the store
READERS_KERNELS = 50
MOST_GROWTH = {"anonymous MB": 1.1, "page MB": 1.1, "file MB": 1.1, "judge MB": 1.5, "files": 1.1, "sockets": 1.25, "processes": 1.5}


def ask(port, method, target, body=None, timeout=320, token=HONEST):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, target, body and json.dumps(body), {"Authorization": "Bearer " + token})
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
    while status in (200, 202) and not json.loads(body)["done"]:  # the machine is slow
        time.sleep(1)
        status, body = ask(port, "GET", f"/v1/batches/{json.loads(body)['batch']}")
    if status != 200 or any(result["fault"] for result in json.loads(body)["results"]):
        raise ValueError(body[:200])


def goes_away(port, source):
    time.sleep(2)
    if json.loads(ask(port, "GET", "/v1/health")[1])["queued"] > MOST_QUEUED:
        return
    try:
        ask(port, "POST", "/v1/judge", {"items": [next(source)], "depth": "correct", "wait_s": 300}, timeout=0.3)
    except TimeoutError:
        pass


def cancels(port, source):
    _, body = ask(port, "POST", "/v1/judge", {"items": [next(source)], "depth": "correct", "wait_s": 0})
    ask(port, "DELETE", "/v1/jobs/" + json.loads(body)["jobs"][0]["job"])
    time.sleep(2)


def reads(port, source):
    for target in ("/", "/v1/tasks", "/v1/tasks/axpy", "/metrics", "/v1/health", "/v1/jobs/none"):
        ask(port, "GET", target, token=READER)
    time.sleep(1)


def fill_store(port):
    for first in range(0, REPLIES, 500):
        items = [{"task": "axpy", "reply": f"{n} " + os.urandom(REPLY_BYTES // 2).hex()} for n in range(first, first + 500)]
        if ask(port, "POST", "/v1/judge", {"items": items})[0] != 200:
            raise SystemExit("the replies that fill the store were refused")
    source = kernels()
    items = [next(source) for _ in range(READERS_KERNELS)]
    status, body = ask(port, "POST", "/v1/judge", {"items": items, "depth": "correct", "wait_s": 300}, token=READER)
    if status != 200:
        raise SystemExit(f"the readers' kernels were not judged: {body[:200]}")


def page_mb(port):
    return len(ask(port, "GET", "/", token=READER)[1]) / 2**20


def memory_mb(pid):
    """Anonymous memory, and pages of files."""
    lines = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    anonymous, file, shared = (int(lines[name].split()[0]) / 1024 for name in ("RssAnon", "RssFile", "RssShmem"))
    return anonymous, file + shared


def descendants(pid):
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found[1:]


def judge_mb(pids):
    sizes = [0]
    for pid in pids:
        try:
            if b"\0_judge\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                sizes.append(memory_mb(pid)[0])
        except (OSError, KeyError):  # it has ended
            pass
    return max(sizes)


def descriptors(pid):
    """Those of sockets, and the others."""
    names = []
    for one in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            names.append(os.readlink(one))
        except OSError:  # it was closed
            pass
    sockets = sum(name.startswith("socket:") for name in names)
    return sockets, len(names) - sockets


def sample(server):
    pid = server.process.pid
    anonymous, file = memory_mb(pid)
    sockets, files = descriptors(pid)
    children = descendants(pid)
    return {"anonymous MB": anonymous, "page MB": page_mb(server.port), "file MB": file, "judge MB": judge_mb(children), "files": files,
            "sockets": sockets, "processes": len(children)}


def report(samples, counts):
    print(f"{len(samples) * EVERY_S} s, {CONNECTIONS} hostile connections; " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    print(f"{'median of each tenth':>20}" + "".join(f"{tenth:7}" for tenth in range(1, 11)) + "   most")
    grown = []
    for name, most in MOST_GROWTH.items():
        values = [one[name] for one in samples]
        tenths = [statistics.median(values[len(values) * i // 10:len(values) * (i + 1) // 10] or values) for i in range(10)]
        is_grown = tenths[-1] > tenths[1] * most + 2
        print(f"{name:>20}" + "".join(f"{value:7.1f}" for value in tenths) + f"{max(values):7.1f}" + (" GROWS" if is_grown else ""))
        grown += [name] * is_grown
    if grown or counts.get("waits refused"):
        raise SystemExit("; ".join(["grows: " + ", ".join(grown)] * bool(grown) + ["requests were refused"] * bool(counts.get("waits refused"))))
    print("flat")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tokens = pathlib.Path(folder) / "tokens"
        tokens.touch(0o600)
        tokens.write_text(f"honest {HONEST}\nhostile {HOSTILE}\nreader {READER}\n")
        server = Server(sys.argv[1], "serve", "--judge", "--store", pathlib.Path(folder) / "s.db", "--device", "cpu", "--token-file", tokens)
        counts, ready = multiprocessing.Manager().dict(), multiprocessing.Event()
        workers = [multiprocessing.Process(target=attack, args=(server.port, CONNECTIONS, ready))]
        workers += [multiprocessing.Process(target=forever, args=(act, server.port, counts, act.__name__))
                    for act in (waits, goes_away, cancels, reads)]
        samples = []
        try:
            fill_store(server.port)
            for worker in workers:
                worker.start()
            for i in range(SECONDS // EVERY_S):
                time.sleep(EVERY_S)
                samples.append(sample(server))
                if i % 12 == 11:
                    print(f"{(i + 1) * EVERY_S} s:", *(f"{value:.0f} {name}" for name, value in samples[-1].items()), dict(counts), flush=True)
        finally:
            for worker in workers:
                worker.terminate()
            server.kill()
    report(samples, dict(counts))


if __name__ == "__main__":
    main()
