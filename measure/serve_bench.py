#!/usr/bin/env python3
"""What one server thread bears: serve_bench.py FAKE_JUDGE_SERVER [HELD].

The device is a fake, so the figures are those of HTTP, JSON and the store. The client is this program, which is slower
than the server, so the rates are lower bounds."""
import asyncio
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/serve"))
from servers import Server, kernel_saying, reply_with  # noqa: E402

FAKE = sys.argv[1]
HELD = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
REPLY_BYTES = 100_000


def status_of(server, name):
    """A line of /proc/PID/status."""
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise KeyError(name)


def request(method, target, body=None):
    text = b"" if body is None else json.dumps(body).encode()
    return (f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(text)}\r\n\r\n").encode() + text


async def ask(streams, bytes_):
    reader, writer = streams
    writer.write(bytes_)
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split()[0])
    return int(head.split()[1]), await reader.readexactly(length)


async def held_connections(server):
    """HELD trainers send replies of 100 KB and wait; then the answers come."""
    async def trainer(index):
        kernel = kernel_saying("correct", 2, f"held{index}")
        reply = "x" * (REPLY_BYTES - len(kernel)) + "\n" + reply_with(kernel)
        streams = await asyncio.open_connection("127.0.0.1", server.port)
        answer = await ask(streams, request("POST", "/v1/judge", {"items": [{"task": "axpy", "reply": reply}], "wait_s": 600}))
        streams[1].close()
        return answer

    tasks = [asyncio.create_task(trainer(i)) for i in range(HELD)]
    streams = await asyncio.open_connection("127.0.0.1", server.port)
    waiting, begin = 0, time.monotonic()
    while waiting < HELD:
        assert time.monotonic() - begin < 60, f"only {waiting} requests wait"
        await asyncio.sleep(0.2)
        text = (await ask(streams, request("GET", "/metrics")))[1].decode()
        waiting = int(text.split("winnow_requests_waiting ")[-1].split()[0])
    print(f"{waiting} held requests of {REPLY_BYTES // 1000} KB: RSS {status_of(server, 'VmRSS') / 1024:.0f} MB, "
          f"peak {status_of(server, 'VmHWM') / 1024:.0f} MB, {status_of(server, 'Threads')} threads "
          "(one serves, one makes pages, the others are the fake device's)")
    answers = await asyncio.gather(*tasks)
    right = sum(status == 200 and abs(json.loads(body)["results"][0]["reward"] - 2.3) < 1e-9 for status, body in answers)
    print(f"{right} of {HELD} got the right reward")
    assert right == HELD


async def rate(server, what, seconds, connections, make):
    """Requests a second over some connections that stay open."""
    count, end = 0, time.monotonic() + seconds

    async def client(index):
        nonlocal count
        streams = await asyncio.open_connection("127.0.0.1", server.port)
        step = 0
        while time.monotonic() < end:
            step += 1
            status, _ = await ask(streams, make(index, step))
            assert status == 200, status
            count += 1
        streams[1].close()

    begin = time.monotonic()
    await asyncio.gather(*(client(i) for i in range(connections)))
    print(f"{what}: {count / (time.monotonic() - begin):.0f} a second")


async def rates(server):
    await rate(server, "GET /v1/health, 16 connections", 4, 16, lambda i, step: request("GET", "/v1/health"))
    item = lambda name: {"task": "axpy", "kernel": kernel_saying("correct", 2, name)}
    known = request("POST", "/v1/judge", {"items": [item("known")], "wait_s": 60})
    await rate(server, "POST /v1/judge of a known kernel, 16 connections", 4, 16, lambda i, step: known)
    await rate(server, "POST /v1/judge of a new kernel, 64 connections", 4, 64,
               lambda i, step: request("POST", "/v1/judge", {"items": [item(f"n{i}.{step}")], "wait_s": 60}))
    begin = time.monotonic()
    items = [{**item(f"b{i}"), "id": str(i)} for i in range(1024)]
    streams = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 26)
    status, body = await ask(streams, request("POST", "/v1/judge", {"items": items, "wait_s": 600}))
    assert status == 200 and len(json.loads(body)["results"]) == 256, status  # a page; the others follow
    print(f"a batch of 1,024 new kernels: {1024 / (time.monotonic() - begin):.0f} kernels a second")


def with_server(begin_after_ms, work):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(FAKE, pathlib.Path(folder) / "s.db", "--lanes", 4, "--begin-after-ms", begin_after_ms)
        try:
            asyncio.run(work(server))
        finally:
            server.kill()


with_server(60_000, held_connections)
with_server(0, rates)
