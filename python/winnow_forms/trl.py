"""TRL, written for huggingface/trl f2cd5771 (1.10): trainer/grpo_trainer.py, _calculate_rewards; and for versions before 1.6
and Unsloth, which has a trainer of its own.

    from winnow_forms.trl import reward_func
    GRPOTrainer(reward_funcs=reward_func(depth="full"), ...)    # the data set has a column "task"

From 1.6 on a reward of None leaves the sample out of its group. Before, and with Unsloth, None counts as 0: the model would
learn from a fault. There the function raises when `wait_s` (an hour) is over, and the run stops. fault="none" or "raise"
says which you want."""
import importlib.metadata
import re
import sys

from ._core import Judge, final_text, numbers

WAIT_S = 3600


def bears_none():
    """Whether the trainer in this process leaves a sample without a reward out."""
    try:
        version = [int(part) for part in re.findall(r"\d+", importlib.metadata.version("trl"))[:2]]
    except importlib.metadata.PackageNotFoundError:
        return False
    return version >= [1, 6] and "unsloth" not in sys.modules


def reward_func(**options):
    """A reward function. Options: as in Judge. Columns of the data set are no options, whatever their names are."""

    def winnow(prompts, completions, task=None, log_metric=None, **_):
        judge = Judge({"wait_s": WAIT_S, "fault": "none" if bears_none() else "raise"}, **options)
        tasks = task if task is not None else [None] * len(completions)
        results = judge.results([(t, final_text(c)) for t, c in zip(tasks, completions)])
        if callable(log_metric) and results:
            logs = [numbers(result) for result in results]
            for name in logs[0]:
                log_metric(f"winnow/{name}", sum(log[name] for log in logs) / len(logs))
        return [judge.value(result) for result in results]

    return winnow
