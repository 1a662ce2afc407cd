"""A client of `winnow serve --judge` (docs/serve.md). It needs Python 3.9 and nothing else.

    from winnow_client import Client
    client = Client("http://127.0.0.1:8787", token="...")
    for result in client.judge([{"task": "row_softmax", "reply": text}]):
        print(result["verdict"], result["reward"])

A result whose `fault` is not None says nothing about the kernel, and its reward is None: leave the sample out of the
step, or ask again. A fault is never a reward of 0. The forms of trainers are in winnow_forms, beside this file.
"""
import email.utils
import http.client
import json
import math
import os
import random
import time
import urllib.parse

__all__ = ["Client", "Fault", "Refused", "Run"]

MAX_ITEMS = 1024         # of one request
MAX_REQUEST = 32 << 20   # bytes of the texts of one request: the server takes 64 MB of JSON
MAX_PAUSE_S = 600        # of a Retry-After
MAX_TEXT = 1 << 20       # a longer text is cut: the server calls one of more than 256 KiB a bad_reply


class Refused(ValueError):
    """The server refuses the request: the caller must change it."""


class Fault(RuntimeError):
    """The machine could not judge a kernel. This says nothing about the kernel."""


class Client:
    """Sends kernels to one server. Threads may share a client: each call has a connection of its own.

    `patience`: seconds for which a call tries again while the server is full, restarts or cannot be reached."""

    def __init__(self, server=None, token=None, patience=600.0):
        server = server or os.environ.get("WINNOW_SERVER", "http://127.0.0.1:8787")
        url = urllib.parse.urlsplit(server if "//" in server else "//" + server, scheme="http")
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError(f"{server!r} is no URL of a server, such as http://127.0.0.1:8787")
        self._secure, self._host, self._path = url.scheme == "https", url.hostname, url.path.rstrip("/")
        self._port = url.port or (443 if self._secure else 80)
        self._token = token or url.password or os.environ.get("WINNOW_TOKEN")
        self._patience = patience

    # ---- judging ----
    def judge(self, items, depth=None, reward=None, fresh=False, race_against=None, retries=2, wait_s=None, **options):
        """Judges all items and returns a result for each, in their order.

        An item is a dict with `task` and either `reply` (a model's whole reply) or `kernel` (a kernel file). `depth`:
        compile, correct or full. `reward`: kevin, tiers, log, stages or one of the server's own. `race_against`: a candidate
        of the store. `retries`: how often a kernel that met a fault of the machine is sent again; None: until `wait_s` is
        over. Other options: `max_variants` (choices of a kernel's parameters that may be tried), `priority` (-100 to 100;
        higher ones go before your others) and `metadata` (any JSON, which comes back with the batch).

        `wait_s`: seconds for all. An item without an answer by then has the fault `late`, or `unreachable` if the server
        did not answer; the same call later gets the answer. Without `wait_s` the call waits for all answers, and raises
        Fault if the server cannot be reached for `patience` seconds.

        Raises Refused if the server has no such task or option, or an item is malformed."""
        items = [_sendable(item) for item in items]
        results, end = [None] * len(items), None if wait_s is None else time.monotonic() + wait_s
        missing, why, pause = list(range(len(items))), "late", 0.05
        while True:
            try:
                part = [items[i] for i in missing]
                for index, result in self.stream(part, depth, reward, fresh, race_against, end=end, **options):
                    results[missing[index]] = result
            except Fault as fault:
                if end is None:
                    raise
                why = f"unreachable: {fault}"
            missing = [i for i, result in enumerate(results) if result is None or result["fault"] == "infrastructure"]
            late = end is not None and time.monotonic() + pause > end
            if not missing or late or (retries is not None and retries <= 0) or why != "late":
                return [result or _without_answer(why) for result in results]
            retries = None if retries is None else retries - 1
            time.sleep(pause)
            pause = min(2 * pause, 30)

    def stream(self, items, depth=None, reward=None, fresh=False, race_against=None, end=None, **options):
        """Yields (index of the item, result) as soon as each is known. `end`: stops then, by time.monotonic()."""
        begin = 0
        for part in _requests_of([_sendable(item) for item in items]):
            body = {"items": [{**item, "id": str(i)} for i, item in enumerate(part)], "fresh": fresh}
            given = {"depth": depth, "reward": reward, "race_against": race_against, **options}
            body.update({name: value for name, value in given.items() if value is not None})
            accepted = self.call("POST", "/v1/judge", body, end)
            for job in accepted["jobs"]:
                if job["state"] == "refused":
                    raise Refused(f"item {begin + int(job['id'])}: {job['error']}")
            for result in self.results(accepted["batch"], accepted, end):
                yield begin + int(result["id"]), result
            begin += len(part)

    def results(self, batch, page=None, end=None):
        """Yields the results of a batch, also of one that an earlier process sent."""
        page = page or self.call("GET", f"/v1/batches/{batch}", end=end)
        while True:
            yield from page["results"]
            left = 60 if end is None else min(60, end - time.monotonic())
            if page["done"] or left <= 0:
                return
            page = self.call("GET", f"/v1/batches/{batch}?wait_s={max(1, int(left))}&after={page['next']}", end=end)

    def cancel(self, job):
        return self.call("DELETE", f"/v1/jobs/{job}")

    def tasks(self):
        return self.call("GET", "/v1/tasks")["tasks"]

    def task(self, name):
        return self.call("GET", "/v1/tasks/" + urllib.parse.quote(name))

    def health(self):
        return self.call("GET", "/v1/health")

    # ---- HTTP ----
    def call(self, method, target, body=None, end=None):
        """One request. Tries again on 429, 5xx and lost connections until `end`: all requests may be sent twice."""
        text = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        last, pause = time.monotonic() + self._patience if end is None else end, 0.05
        while True:
            try:
                status, retry_after, answer = self._send(method, target, text, 120 if end is None else end - time.monotonic())
                why = f"HTTP {status}: {_error_in(answer)}"
            except (OSError, http.client.HTTPException) as error:
                status, retry_after, answer, why = 503, None, b"", f"{type(error).__name__}: {error}"
            if status < 300:
                return json.loads(answer)
            if status < 500 and status != 429:
                raise Refused(why)
            pause = _seconds_in(retry_after) or min(2 * pause, 30)
            pause *= random.uniform(1, 1.5)  # so that many clients do not come at once
            if time.monotonic() + pause > last:
                raise Fault(f"{self._host}:{self._port}: {why}")
            time.sleep(pause)

    def _send(self, method, target, text, timeout):
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=min(120, max(1, timeout)))
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        try:
            connection.request(method, self._path + target, text, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Retry-After"), answer.read()
        finally:
            connection.close()


class Run:
    """A search of your own, which Winnow's tables and pages count beside its own searches.

        with Run(client, "evo", "external:evo", model="m-1", tasks=["axpy"]) as run:
            first, = run.judge([{"task": "axpy", "reply": text, "tokens": {"input": 900, "output": 100}, "dollars": 0.01}])
            next, = run.judge([{"task": "axpy", "reply": better, "parents": [first["job"]]}])

    `samples`: the most calls of a task, none of which has seen another; then Winnow tells pass@k. A run that was declared
    so before goes on. The run ends at the end of the `with` block, unless an exception ends the block."""

    def __init__(self, client, name, strategy, model, tasks, samples=None):
        self.client, self.name = client, name
        declared = {"name": name, "strategy": strategy, "model": model, "tasks": list(tasks), "samples": samples}
        self._next = client.call("POST", "/v1/runs", declared)["next_call"]

    def judge(self, items, **options):
        """As Client.judge(). An item may have `parents` (numbers of calls, jobs of results, or "@43"), `tokens` and `dollars`,
        which are yours to state. `call`: your own number for the call; default: the next one. A call that is sent again
        with its number counts once."""
        return self.client.judge([self._of_run(item) for item in items], **options)

    def show(self):
        """Calls, tokens, dollars and the best kernel of each task."""
        return self.client.call("GET", self._path())

    def end(self):
        """The run takes no more calls."""
        return self.client.call("POST", self._path() + "/end", {})

    def _path(self):
        return "/v1/runs/" + urllib.parse.quote(self.name, safe="")

    def _of_run(self, item):
        call = item.get("call", self._next)
        self._next = max(self._next, call + 1)
        return {**item, "run": self.name, "call": call}

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.end()


def _seconds_in(retry_after):
    """Seconds of a Retry-After, which is a number or a date (RFC 9110). None: it says nothing that helps."""
    try:
        seconds = float(retry_after)
    except (TypeError, ValueError):
        try:
            seconds = email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
        except Exception:  # whatever a proxy wrote
            return None
    return None if math.isnan(seconds) or seconds <= 0 else min(seconds, MAX_PAUSE_S)


def _error_in(answer):
    try:
        return json.loads(answer)["error"]
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode(errors="replace")


def _without_answer(fault):
    """A result in the place of one that did not come."""
    fault, _, detail = fault.partition(": ")
    return {"reward": None, "reward_terms": None, "fault": fault, "detail": detail or "the answer takes longer"}


def _sendable(item):
    """A copy whose text is valid UTF-8: a tokeniser may cut a character into halves. Much longer texts than may be are cut."""
    item = dict(item)
    for name in ("reply", "kernel"):
        if isinstance(item.get(name), str):
            item[name] = item[name][:MAX_TEXT].encode("utf-8", "replace").decode()
    return item


def _requests_of(items):
    """Parts of the items, each small enough for one request."""
    part, size = [], 0
    for item in items:
        length = sum(len(text.encode()) for text in item.values() if isinstance(text, str))
        if part and (len(part) == MAX_ITEMS or size + length > MAX_REQUEST):
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    if part:
        yield part
