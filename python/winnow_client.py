"""A client of `winnow serve --judge` (docs/serve.md). It needs Python 3.9 and nothing else.

    from winnow_client import Client
    client = Client("http://127.0.0.1:8787", token="...")
    for result in client.judge([{"task": "row_softmax", "reply": text}]):
        print(result["verdict"], result["reward"])

A result whose `fault` is not None says nothing about the kernel, and its reward is None: leave the sample out of the
step, or ask again. A fault is never a reward of 0.

The functions at the end are adapters for trainers: verl_compute_score, trl_reward, SkyRL's skyrl_env, verifiers_reward
and nemo_gym_app. They take the server from WINNOW_SERVER and the token from WINNOW_TOKEN.
"""
import http.client
import json
import os
import random
import time
import urllib.parse

__all__ = ["Client", "Fault", "Refused", "verl_compute_score", "trl_reward", "skyrl_env", "verifiers_reward", "nemo_gym_app"]

MAX_ITEMS = 1024  # of one request


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
    def judge(self, items, depth=None, reward=None, fresh=False, race_against=None, retries=2, **options):
        """Judges all items and returns a result for each, in their order.

        An item is a dict with `task` and either `reply` (a model's whole reply) or `kernel` (a kernel file). `depth`:
        compile, correct or full. `reward`: kevin, tiers, log, stages or one of the server's own. `race_against`: a candidate
        of the store. `retries`: how often a kernel that met a fault of the machine is sent again. Other options:
        `max_variants` (choices of a kernel's parameters that may be tried), `priority` (-100 to 100; higher ones go before
        your others) and `metadata` (any JSON, which comes back with the batch). Raises Refused if the server has no such task
        or option, or an item is malformed."""
        items = [dict(item) for item in items]
        results = [None] * len(items)
        for index, result in self.stream(items, depth, reward, fresh, race_against, **options):
            results[index] = result
        again = [i for i, result in enumerate(results) if result["fault"] == "infrastructure"]
        if again and retries > 0:
            answers = self.judge([items[i] for i in again], depth, reward, fresh, race_against, retries - 1, **options)
            for i, result in zip(again, answers):
                results[i] = result
        return results

    def stream(self, items, depth=None, reward=None, fresh=False, race_against=None, **options):
        """Yields (index of the item, result) as soon as each is known."""
        for begin in range(0, len(items), MAX_ITEMS):
            part = items[begin:begin + MAX_ITEMS]
            body = {"items": [{**item, "id": str(i)} for i, item in enumerate(part)], "fresh": fresh}
            given = {"depth": depth, "reward": reward, "race_against": race_against, **options}
            body.update({name: value for name, value in given.items() if value is not None})
            accepted = self.call("POST", "/v1/judge", body)
            for job in accepted["jobs"]:
                if job["state"] == "refused":
                    raise Refused(f"item {begin + int(job['id'])}: {job['error']}")
            for result in self.results(accepted["batch"], accepted):
                yield begin + int(result["id"]), result

    def results(self, batch, page=None):
        """Yields the results of a batch, also of one that an earlier process sent."""
        page = page or self.call("GET", f"/v1/batches/{batch}")
        while True:
            yield from page["results"]
            if page["done"]:
                return
            page = self.call("GET", f"/v1/batches/{batch}?wait_s=60&after={page['next']}")

    def cancel(self, job):
        return self.call("DELETE", f"/v1/jobs/{job}")

    def tasks(self):
        return self.call("GET", "/v1/tasks")["tasks"]

    def task(self, name):
        return self.call("GET", "/v1/tasks/" + urllib.parse.quote(name))

    def health(self):
        return self.call("GET", "/v1/health")

    # ---- HTTP ----
    def call(self, method, target, body=None):
        """One request. Tries again on 429, 503 and lost connections: all requests may be sent twice."""
        text = None if body is None else json.dumps(body).encode()
        end, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                status, retry_after, answer = self._send(method, target, text)
                why = f"HTTP {status}: {_error_in(answer)}"
            except (OSError, http.client.HTTPException) as error:
                status, retry_after, answer, why = 503, None, b"", f"{type(error).__name__}: {error}"
            if status < 300:
                return json.loads(answer)
            if status not in (429, 503):
                raise Refused(why)
            pause = float(retry_after) if retry_after else min(2 * pause, 30)
            pause *= random.uniform(1, 1.5)  # so that many clients do not come at once
            if time.monotonic() + pause > end:
                raise Fault(f"{self._host}:{self._port}: {why}")
            time.sleep(pause)

    def _send(self, method, target, text):
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=120)
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        try:
            connection.request(method, self._path + target, text, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Retry-After"), answer.read()
        finally:
            connection.close()


def _error_in(answer):
    try:
        return json.loads(answer)["error"]
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode(errors="replace")


def _one(task, reply, **options):
    result = Client().judge([{"task": task, "reply": reply}], **options)[0]
    if result["reward"] is None:
        raise Fault(f"{result['fault']}: {result.get('detail', '')}")
    return result


def _reply_in(completion):
    """The text of a completion: a text, or a conversation. Its last message has no text if it calls a tool only."""
    return completion if isinstance(completion, str) else completion[-1]["content"] or ""


def _numbers(result):
    """What a trainer can log: numbers only."""
    speedup = result.get("speedup") or {}
    return {"compiled": float(result["compiled"]), "correct": float(result["correct"]), "progress": float(result["progress"]),
            "speedup": float(speedup.get("value") or 0), "speedup_low": float(speedup.get("low") or 0)}


# ---- verl: custom_reward_function.path=.../winnow_client.py custom_reward_function.name=verl_compute_score ----
def verl_compute_score(data_source, solution_str, ground_truth, extra_info=None, **options):
    """The task is extra_info["task"], else ground_truth. Raises Fault: verl must not learn from a fault of the machine."""
    result = _one((extra_info or {}).get("task") or ground_truth, solution_str, **options)
    return {"score": result["reward"], **_numbers(result)}


# ---- TRL: GRPOTrainer(reward_funcs=trl_reward, ...); the data set has a column "task" ----
def trl_reward(prompts, completions, task, depth=None, reward=None, **columns):
    """A list of rewards. None, which TRL leaves out, for a fault of the machine."""
    results = Client().judge([{"task": t, "reply": _reply_in(c)} for t, c in zip(task, completions)], depth, reward)
    return [result["reward"] for result in results]


# ---- SkyRL: register(id="winnow", entry_point=skyrl_env(BaseTextEnv)) ----
def skyrl_env(base=object):
    """A class of environments. `base`: skyrl_gym's BaseTextEnv. `extras["task"]` of a row names the task."""

    class WinnowEnv(base):
        def __init__(self, env_config=None, extras=None):
            super().__init__()
            extras = extras or {}
            self.task = extras.get("task") or extras["reward_spec"]["ground_truth"]
            self.turns, self.max_turns, self.numbers = 0, int(extras.get("max_turns", 1)), {}

        def init(self, prompt):
            return prompt, {}

        def step(self, action):
            """The feedback about a kernel that is not correct is the next observation."""
            self.turns += 1
            result = _one(self.task, action)
            self.numbers = _numbers(result)
            done = self.turns >= self.max_turns
            observations = [] if done else [{"role": "user", "content": result["feedback"]}]
            return {"observations": observations, "reward": result["reward"], "done": done, "metadata": self.numbers}

        def get_metrics(self):
            return self.numbers  # of the last turn

        def close(self):
            pass

    return WinnowEnv


# ---- verifiers: rubric = vf.Rubric(funcs=[verifiers_reward]) ----
def verifiers_reward(completion, answer, info=None, **_):
    """The task is info["task"], else answer."""
    return _one((info or {}).get("task") or answer, _reply_in(completion))["reward"]


# ---- NeMo Gym: a resources server whose /verify this is; POST /compat/nemo_gym/verify of the server does the same ----
NEMO_GYM_ROUTES = [("POST", "/seed_session"), ("POST", "/verify"), ("POST", "/aggregate_metrics"), ("GET", "/reverify_mode")]


def nemo_gym_app(environ, start_response):
    """A WSGI application: wsgiref.simple_server.make_server("", 8000, nemo_gym_app).serve_forever()"""
    path = environ["PATH_INFO"]
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    try:
        if (environ["REQUEST_METHOD"], path) not in NEMO_GYM_ROUTES:
            status, answer = "404 Not Found", {"error": f"this server has {NEMO_GYM_ROUTES}"}
        else:
            answer = Client().call(environ["REQUEST_METHOD"], "/compat/nemo_gym" + path, json.loads(body) if body else None)
            status = "200 OK"
    except Fault as error:
        status, answer = "503 Service Unavailable", {"error": str(error)}
    except ValueError as error:  # Refused, or no JSON
        status, answer = "422 Unprocessable Entity", {"error": str(error)}
    text = json.dumps(answer).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(text)))])
    return [text]
