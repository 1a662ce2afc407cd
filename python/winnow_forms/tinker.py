"""tinker, written for thinking-machines-lab/tinker-cookbook 9dfcc3a2: tinker_cookbook/rl/types.py, rl/problem_env.py,
rl/message_env.py, rl/rollouts.py, rl/rollout_strategy.py.

In the step of an environment, with the message that the renderer parsed:

    message, _ = self.renderer.parse_response(action)
    reward, metrics = await winnow_forms.tinker.score("axpy", message)
    return StepResult(reward=reward, episode_done=True, metrics=metrics, ...)

A fault raises. The strategy FailFast stops the run; RetryOnFailure and MinViableGroup start trajectories again, three times
together, and then leave the group out (MinViableGroup: if too few have a reward)."""
from ._core import Judge, final_text, in_thread, numbers

DEFAULTS = {"wait_s": 3600}


async def score(task, message, **options):
    judge = Judge(DEFAULTS, **options)
    result = await in_thread(judge.result, task, final_text(message))
    return judge.value(result), numbers(result)
