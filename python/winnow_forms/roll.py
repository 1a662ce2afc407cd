"""ROLL, written for alibaba/ROLL 8eb27cc2: roll/pipeline/rlvr/rewards/remote_reward_system_worker.py.

RemoteRewardSystemWorker with reward_system_config: submit_url http://127.0.0.1:8000/submit_task and get_result_url
http://127.0.0.1:8000/task_result. `ground_truth` of a row names the task, or reward_ref_info: {"task": "axpy"}.

While a fault lasts, ROLL hears that the task still runs. But after its own 300 s (reward_server_task_timeout), five times, ROLL
makes a reward of 0 of that. It looks at its clock only when it has an answer. So shortly before the end the form closes the
connection without one, and ROLL asks again until the judge is back. A wrong task is refused at once, and ROLL makes 0 of it:
look for "Failed to get reward" in its log."""
import time
import uuid

from . import kernelgym
from ._core import numbers, task_in
from ._http import object_of, text_of

HTTP_DEFAULTS = {"wait_s": 170}
EVALUATIONS = kernelgym.Evaluations()


def submit_task(judge, request):
    body = object_of(request)
    name = f"{uuid.uuid4().hex}.{time.monotonic() + 0.8 * float(body.get('timeout') or 300):.0f}"
    info = body.get("reward_info")
    truth = info.get("ground_truth") if isinstance(info, dict) else None
    EVALUATIONS.submit(request.handler.server, judge, name, task_in(info, truth, judge.task), text_of(body, "response"))
    return {"errcode": 0, "errmsg": "", "reward_request_id": name}


def task_result(judge, request):
    name = text_of(object_of(request), "reward_request_id")
    result = EVALUATIONS.result(judge, name)
    if result is None and time.monotonic() > float(name.rpartition(".")[2]):
        request.handler.close_connection = True  # no answer at all: only an answer makes ROLL look at its clock
        return None
    if result is None:
        return {"errcode": 1, "errmsg": "the task runs"}
    return {"errcode": 0, "errmsg": "", "reward_score": judge.value(result), "dimention_reward_score": {}, **numbers(result)}


ROUTES = [("POST", r".*/submit_task", submit_task), ("GET", r".*/task_result", task_result)]
