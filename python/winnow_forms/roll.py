"""ROLL, written for alibaba/ROLL 8eb27cc2: roll/pipeline/rlvr/rewards/remote_reward_system_worker.py.

RemoteRewardSystemWorker with reward_system_config: submit_url http://127.0.0.1:8000/submit_task and get_result_url
http://127.0.0.1:8000/task_result. `ground_truth` of a row names the task, or reward_ref_info: {"task": "axpy"}.

While a fault lasts, ROLL hears that the task still runs. But after five times its own 300 s (reward_server_task_timeout) ROLL
makes a reward of 0 of that: look for "Failed to get reward" in its log."""
import uuid

from ._core import numbers, task_in
from ._http import object_of, text_of
from .kernelgym import Evaluations

HTTP_DEFAULTS = {"wait_s": 170}
EVALUATIONS = Evaluations()


def submit_task(judge, request):
    body, name = object_of(request), uuid.uuid4().hex
    info = body.get("reward_info")
    truth = info.get("ground_truth") if isinstance(info, dict) else None
    EVALUATIONS.submit(judge, name, (task_in(info, truth, judge.task), text_of(body, "response")))
    return {"errcode": 0, "errmsg": "", "reward_request_id": name}


def task_result(judge, request):
    result = EVALUATIONS.result(judge, text_of(object_of(request), "reward_request_id"))
    if result is None:
        return {"errcode": 1, "errmsg": "the task runs"}
    return {"errcode": 0, "errmsg": "", "reward_score": judge.value(result), "dimention_reward_score": {}, **numbers(result)}


ROUTES = [("POST", r".*/submit_task", submit_task), ("GET", r".*/task_result", task_result)]
