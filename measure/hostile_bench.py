#!/usr/bin/env python3
"""Judging beside hostile peers: hostile_bench.py WINNOW [CONNECTIONS [JUDGEMENTS]].

A fifth of the connections each: silent; a header that drips; bytes that drip after a refusal; answers that nobody reads; chunks with
endless trailers. The last two have a token of their own. A peer that is closed connects again. Beside them another owner has kernels
judged on the CPU device. No judgement may become a fault, health must answer within 200 ms, and memory may grow by 200 MB."""
import asyncio
import http.client
import json
import multiprocessing
import os
import pathlib
import resource
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/serve"))
from servers import SOURCES, Server  # noqa: E402

BATCH = 10
HONEST, HOSTILE = "honest-0123456789abcdef", "hostile-0123456789abcdef"
MOST_HEALTH_MS, MOST_GROWTH_MB = 200, 200


def head(method, target, token, *fields):
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", *fields, "", ""]).encode()


async def drip(writer, byte=b"x"):
    while True:
        writer.write(byte)
        await writer.drain()
        await asyncio.sleep(1)


async def silent(reader, writer):
    await reader.read()


async def dripped_header(reader, writer):
    writer.write(b"GET /")
    await drip(writer)


async def dripped_after_refusal(reader, writer):
    writer.write(head("POST", "/v1/judge", "wrong", "Content-Length: 1000000"))
    await drip(writer)


async def unread_answers(reader, writer):
    writer.transport.pause_reading()
    writer.write(head("GET", "/v1/tasks", HOSTILE) * 50)
    await asyncio.sleep(45)  # the server closes it after 30 s


async def endless_trailers(reader, writer):
    writer.write(head("POST", "/v1/judge", HOSTILE, "Transfer-Encoding: chunked") + b"2;a=b\r\n{}\r\n0\r\n")
    await drip(writer, b"X: y\r\n" * 100)


KINDS = [silent, dripped_header, dripped_after_refusal, unread_answers, endless_trailers]


async def peer(port, kind, counts):
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            counts["opened"] += 1
            try:
                await kind(reader, writer)
            finally:
                writer.close()
        except OSError:
            pass
        counts["closed"] += 1
        await asyncio.sleep(1)


def attack(port, connections, ready):
    """Runs in a process of its own until it is terminated."""
    async def run():
        counts = {"opened": 0, "closed": 0}
        peers = [asyncio.create_task(peer(port, KINDS[i % len(KINDS)], counts)) for i in range(connections)]
        while counts["opened"] < connections:
            await asyncio.sleep(0.1)
        ready.set()
        await asyncio.gather(*peers)

    os.nice(5)  # the machine is the server's, too
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(run())


def memory_mb(server, name):
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.split(name + ":")[1].split()[0]) / 1024


def watch(port, times, stop):
    """Asks for the health ten times a second, each time over a new connection."""
    while not stop.is_set():
        begin = time.monotonic()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/v1/health")
            good = connection.getresponse().status == 200
            connection.close()
        except OSError:
            good = False
        times.append((time.monotonic() - begin) * 1000 if good else float("inf"))
        time.sleep(0.1)


def judge(port, first, kernel):
    items = [{"id": str(i), "task": "axpy", "kernel": f"{kernel}\n// {i}\n"} for i in range(first, first + BATCH)]
    body = json.dumps({"items": items, "depth": "correct", "wait_s": 300})
    for attempt in range(20):  # a refused or broken request is sent again, as trainers do
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=320)
            connection.request("POST", "/v1/judge", body, {"Authorization": "Bearer " + HONEST})
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 200:
                return json.loads(text)["results"], attempt
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.2)
    raise SystemExit("20 requests in a row failed")


def main():
    connections = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    judgements = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    kernel = (SOURCES / "tasks/catalogue/blas/axpy/baseline.cu").read_text()
    with tempfile.TemporaryDirectory() as folder:
        tokens = pathlib.Path(folder) / "tokens"
        tokens.touch(0o600)
        tokens.write_text(f"honest {HONEST}\nhostile {HOSTILE}\n")
        server = Server(sys.argv[1], "serve", "--judge", "--store", pathlib.Path(folder) / "s.db", "--device", "cpu",
                        "--token-file", tokens)
        ready = multiprocessing.Event()
        attacker = multiprocessing.Process(target=attack, args=(server.port, connections, ready))
        stop, times = multiprocessing.Event(), multiprocessing.Manager().list()
        watcher = multiprocessing.Process(target=watch, args=(server.port, times, stop))
        try:
            judge(server.port, 1_000_000, kernel)
            before = memory_mb(server, "VmRSS")
            attacker.start()
            ready.wait(120)
            watcher.start()
            begin, results, again, most_files = time.monotonic(), [], 0, 0
            for first in range(0, judgements, BATCH):
                part, attempts = judge(server.port, first, kernel)
                results += part
                again += attempts
                most_files = max(most_files, len(os.listdir(f"/proc/{server.process.pid}/fd")))
            seconds = time.monotonic() - begin
            stop.set()
            watcher.join()
            growth = memory_mb(server, "VmHWM") - before
        finally:
            attacker.terminate()
            server.kill()
    faults = [r["fault"] for r in results if r["fault"]]
    correct = sum(r.get("verdict") == "correct" for r in results)
    print(f"{connections} hostile connections of {len(KINDS)} kinds; {len(results)} judgements in {seconds:.0f} s: {correct} correct, "
          f"{len(faults)} faults; {again} requests were sent again")
    print(f"health, {len(times)} times: median {statistics.median(times):.1f} ms, longest {max(times):.1f} ms")
    print(f"memory: {before:.0f} MB before, {growth:.0f} MB more at most; {most_files} descriptors")
    if faults or correct != len(results) or max(times) > MOST_HEALTH_MS or growth > MOST_GROWTH_MB:
        raise SystemExit("a bound does not hold")


if __name__ == "__main__":
    main()
