"""OpenEnv, written for huggingface/OpenEnv 385de5eb: src/openenv/core/env_client.py, env_server/{http_server,types}.py.

    env = GenericEnvClient(base_url="http://127.0.0.1:8000")     # python3 -m winnow_forms openenv
    await env.reset(task="axpy", max_turns=3)                    # the observation has `prompt`
    await env.step({"reply": text})                              # reward, done, and `feedback` for the next turn
    await env.state()

A WebSocket is a session of its own. Over HTTP each request is alone, as in OpenEnv, so an action names its task there:
{"action": {"task": "axpy", "reply": "..."}}. A correct kernel does not end an episode before `max_turns`: the next may be
faster. The client waits 60 s for a message. A fault is an error message (EXECUTION_ERROR), of which the client makes a
RuntimeError; the turn does not count, and the same step gets the answer later. With --fault none the reward is null.

A client has one message on its way. One that sends many without waiting is told so (CAPACITY_REACHED), and its session ends."""
import concurrent.futures
import contextlib
import json
import time
import urllib.parse
import uuid

from ._core import Fault, Refused, Threads, final_text, numbers
from ._http import Answer, checked_size, object_of
from ._prompt import prompt_of
from ._websocket import Closed, WebSocket

HTTP_DEFAULTS = {"wait_s": 50}
MOST_TURNS = 1000
MOST_VALUES = 10_000  # of the JSON of a message
MOST_NAME = 200  # characters of an episode_id
MOST_WAITING = 8  # messages of a session, of up to 4 MB each


class Environment:
    """One episode after another."""

    def __init__(self, judge):
        self.judge, self.task, self.max_turns, self.episode, self.turns = judge, judge.task, 1, None, 0

    def reset(self, data):
        task, turns = data.get("task") or self.judge.task, data.get("max_turns", 1)
        if not isinstance(task, str) or not isinstance(turns, int) or not 0 < turns <= MOST_TURNS:
            raise Refused(f"reset needs a task, such as {{'task': 'axpy', 'max_turns': 3}}; max_turns is 1 to {MOST_TURNS}")
        episode = data.get("episode_id") or uuid.uuid4().hex
        if not isinstance(episode, str) or len(episode) > MOST_NAME:
            raise Refused(f"episode_id is no text of at most {MOST_NAME} characters")
        end = time.monotonic() + self.judge.wait_s
        shown = self.judge.client.call("GET", "/v1/tasks/" + urllib.parse.quote(task), end=end)
        self.task, self.max_turns, self.turns = task, turns, 0
        self.episode = episode
        observation = {"task": task, "prompt": prompt_of(shown), "feedback": "", "verdict": None}
        return {"observation": observation, "reward": None, "done": False}

    def step(self, action):
        task = action.get("task") or self.task
        if not task or not ("reply" in action or "kernel" in action or "messages" in action):
            raise Refused("an action is {'reply': TEXT}, after a reset that names a task, or with a task of its own")
        if self.episode and self.turns >= self.max_turns:
            raise Refused("the episode is over: reset")
        reply = next(action[name] for name in ("reply", "messages", "kernel") if name in action)
        if not isinstance(reply, (str, list, dict)):
            raise Refused("the reply is no text, and no message")  # a reward of 0 would hide the error
        result = self.judge.result(task, final_text(reply))
        reward = self.judge.value(result)
        self.turns += 1
        observation = {"task": task, "prompt": "", "feedback": result.get("feedback", ""), "verdict": result.get("verdict"),
                       **numbers(result)}
        return {"observation": observation, "reward": reward, "done": not self.episode or self.turns >= self.max_turns}

    def state(self):
        return {"episode_id": self.episode, "step_count": self.turns, "task": self.task, "max_turns": self.max_turns}


def error(code, why):
    return {"type": "error", "data": {"message": why, "code": code}}


def answer_to(environment, text):
    """The message that answers a message of the client; None: it closes."""
    try:
        checked_size(text.encode(), MOST_VALUES)
        message = json.loads(text)
        kind, data = message.get("type", ""), message.get("data") or {}
        if kind == "close":
            return None
        if kind == "state":
            return {"type": "state", "data": environment.state()}
        if kind not in ("reset", "step"):
            return error("UNKNOWN_TYPE", f"Unknown message type: {str(kind)[:80]}")
        return {"type": "observation", "data": (environment.reset if kind == "reset" else environment.step)(data)}
    except json.JSONDecodeError as why:
        return error("INVALID_JSON", f"Invalid JSON: {why}")
    except Answer as why:
        return error("INVALID_JSON", why.body["error"])
    except Fault as why:
        return error("EXECUTION_ERROR", str(why))
    except (Refused, ValueError, TypeError, AttributeError, RecursionError) as why:
        return error("VALIDATION_ERROR", str(why))


def session(judge, request):
    """A thread answers the messages in their order, so that this one can answer pings meanwhile."""
    socket, environment, thread, answers = WebSocket(request.handler), Environment(judge), Threads(1), []
    request.handler.connection.settimeout(3600)

    def answer(text):
        with contextlib.suppress(OSError):
            reply = answer_to(environment, text)
            if reply is not None:
                socket.send(json.dumps(reply))

    with contextlib.suppress(Closed, OSError):
        for text in socket.messages():
            answers = [future for future in answers if not future.done()]
            if len(answers) >= MOST_WAITING:
                socket.send(json.dumps(error("CAPACITY_REACHED", f"{MOST_WAITING} messages wait for their answers: wait, too")))
                break
            answers.append(thread.submit(answer, text))
    for future in answers:  # nobody waits for them
        future.cancel()
    concurrent.futures.wait(answers)  # so that those who come and go have no more threads than those who stay


def step(judge, request):
    body = object_of(request)
    if not isinstance(body.get("action"), dict):
        raise Refused("action is no object")
    limit = body.get("timeout_s")
    return Environment(judge.given(wait_s=limit) if limit else judge).step(body["action"])


SCHEMA = {
    "action": {"type": "object", "properties": {"reply": {"type": "string"}, "task": {"type": "string"}}, "required": ["reply"]},
    "observation": {"type": "object", "properties": {name: {"type": "string"} for name in ("task", "prompt", "feedback", "verdict")}},
    "state": {"type": "object", "properties": {"episode_id": {"type": "string"}, "step_count": {"type": "integer"}}}}
METADATA = {"name": "winnow", "description": "Write a fast, correct GPU kernel for a task; Winnow judges it.", "version": "1"}

ROUTES = [("GET", r"/ws", session), ("POST", r"/reset", lambda judge, request: Environment(judge).reset(request.body or {})),
          ("POST", r"/step", step), ("GET", r"/state", lambda judge, request: Environment(judge).state()),
          ("GET", r"/health", lambda judge, request: {"status": "healthy"}), ("GET", r"/schema", lambda judge, request: SCHEMA),
          ("GET", r"/metadata", lambda judge, request: METADATA)]
