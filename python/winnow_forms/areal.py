"""AReaL, written for inclusionAI/AReaL 4aef98d8: areal/api/reward_api.py, areal/workflow/rlvr.py.

AReaL's AsyncRewardWrapper runs a reward function in few processes, gives it 15 s, and makes a reward of 0 of four time-outs.
So put the coroutine in the wrapper's place: workflow.async_reward_fn = winnow_forms.areal.async_reward_fn. The column "task"
of the data names the task. A fault raises, and AReaL rejects the rollout.

reward_fn is for code that needs a function: it answers or raises within 12 s, and the job goes on."""
from ._core import Judge, final_text, in_thread

DEFAULTS = {"wait_s": 3600}


def reward_fn(prompt, completions, prompt_ids=None, completion_ids=None, task=None, **_):
    return Judge({"wait_s": 12}).rewards([(task, final_text(completions))])[0]


async def async_reward_fn(prompt, completions, prompt_ids=None, completion_ids=None, task=None, **_):
    return (await in_thread(Judge(DEFAULTS).rewards, [(task, final_text(completions))]))[0]
