"""A /v1 API without a device: a reply says what comes of it, as "verdict=correct speedup=2 low=1.8 promoted=1". """
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

TASKS = ("axpy", "row_softmax")
MOST_BYTES = 256 << 10


def saying(verdict="correct", speedup=2.0, name="", **more):
    rest = " ".join(f"{key}={value}" for key, value in more.items())
    return f"```cuda\n// verdict={verdict} speedup={speedup} name={name} {rest} .\n```\n"


def result_of(item):
    text = item.get("reply", item.get("kernel", ""))
    said = dict(re.findall(r"(\w+)=(\S+)", text[:500] if len(text.encode()) <= MOST_BYTES else ""))
    verdict = said.get("verdict", "bad_reply")
    result = {"id": item["id"], "job": "j-" + item["id"], "task": item["task"], "fault": None, "reward": None, "detail": ""}
    if verdict in ("infrastructure", "unsupported"):
        return {**result, "fault": verdict, "detail": "the device was lost"}
    correct, speedup = verdict == "correct", float(said.get("speedup", 0))
    return {**result, "verdict": verdict, "parsed": verdict != "bad_reply", "compiled": verdict in ("correct", "wrong"),
            "correct": correct, "promoted": correct and said.get("promoted", "1") == "1", "progress": 1.0 if correct else 0.3,
            "speedup": {"value": speedup, "low": speedup * 0.9, "high": speedup * 1.1} if correct else None,
            "time_ns": 5e6 if correct else None, "seconds": 0.5, "feedback": f"Verdict: {verdict}",
            "reward": 0.3 + speedup if correct else 0}


class FakeJudge(http.server.ThreadingHTTPServer):
    """`faults`: how many of the next items meet a fault of the machine. `down`: each request gets a 503, or this status. `slow`: nothing has
    an answer."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.requests, self.faults, self.down, self.slow, self.batches, self.tokens, self.runs = [], 0, False, False, {}, [], []
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def judge(self, body):
        results = []
        with self.lock:
            self.requests.append(body)
            for item in body["items"]:
                result = result_of(item)
                if self.faults > 0:
                    self.faults -= 1
                    result.update(fault="infrastructure", reward=None, detail="the device was lost")
                results.append(result)
            name = f"b-{len(self.batches)}"
            self.batches[name] = results
        return name

    @property
    def items(self):
        return [item for body in self.requests for item in body["items"]]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def page(self, name):
        done = not self.server.slow
        results = self.server.batches[name] if done else []
        return {"batch": name, "done": done, "next": len(results), "results": results}

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.tokens.append(self.headers.get("Authorization"))
        if self.path.startswith("/v1/runs"):
            self.server.runs.append((self.path, body))
            return self.reply(200, {"run": body.get("name"), "next_call": 5})
        unknown = [item for item in body["items"] if item["task"] not in TASKS]
        if self.server.down:
            self.reply(503 if self.server.down is True else self.server.down, {"error": "the server stops"})
        elif len(unknown) == len(body["items"]):
            self.reply(422, {"error": f"there is no task '{unknown[0]['task']}'"})
        else:
            name = self.server.judge(body)
            jobs = [{"id": item["id"], "job": "j-" + item["id"], "state": "done"} for item in body["items"]]
            for job, item in zip(jobs, body["items"]):
                if item in unknown:
                    job.update(state="refused", error=f"there is no task '{item['task']}'")
            self.reply(200, {**self.page(name), "jobs": jobs})

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if self.server.down:
            self.reply(503 if self.server.down is True else self.server.down, {"error": "the server stops"})
        elif url.path.startswith("/v1/batches/"):
            if self.server.slow:
                time.sleep(0.1)
            self.reply(200, self.page(url.path.split("/")[3]))
        elif url.path.startswith("/v1/tasks/"):
            name = url.path.split("/", 3)[3]
            known = name in TASKS
            self.reply(200 if known else 422, {"name": name, "description": "y = a x + y", "tensors": []} if known else {"error": f"no task {name}"})
        else:
            self.reply(200, {"status": "ok", "tasks": [{"name": name} for name in TASKS]})

    def log_message(self, *_):
        pass
