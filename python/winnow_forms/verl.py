"""verl, written for volcengine/verl b178a3cd: experimental/reward_loop/reward_manager/{naive,limited}.py,
workers/reward_manager/{naive,batch}.py.

custom_reward_function.path=.../winnow_forms/verl.py custom_reward_function.name=compute_score; options in
custom_reward_function.reward_kwargs. compute_score_async is for the reward loop, compute_score_batched for the manager
`batch`. The task is extra_info["task"], else ground_truth.

The manager `rate_limited` makes a reward of 0 of each Exception, and of 300 s without an answer. So the form waits 280 s and
then raises Stop, which no `except Exception` catches: the run stops, and no model learns from a fault."""
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # verl loads this file by its path
from winnow_forms._core import OPTIONS, Judge, in_thread, numbers, task_in  # noqa: E402

DEFAULTS = {"wait_s": 280, "fault": "stop"}


def _judge(arguments):
    """verl adds arguments of its own (reward_router_address, reward_model_tokenizer, more each month)."""
    return Judge(DEFAULTS, **{name: value for name, value in arguments.items() if name in OPTIONS})


def compute_score(data_source=None, solution_str="", ground_truth=None, extra_info=None, **arguments):
    judge = _judge(arguments)
    result = judge.result(task_in(extra_info, ground_truth), solution_str)
    return {"score": judge.value(result), **numbers(result)}


async def compute_score_async(data_source=None, solution_str="", ground_truth=None, extra_info=None, **arguments):
    return await in_thread(compute_score, data_source, solution_str, ground_truth, extra_info, **arguments)


def compute_score_batched(data_sources=None, solution_strs=(), ground_truths=(), extra_infos=(), **arguments):
    judge = _judge(arguments)
    tasks = [task_in(extra, truth) for extra, truth in zip(extra_infos, ground_truths)]
    results = judge.results(list(zip(tasks, solution_strs)))
    return [{"score": judge.value(result), **numbers(result)} for result in results]
