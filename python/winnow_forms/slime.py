"""slime, written for THUDM/slime 624b824a: slime/rollout/rm_hub/__init__.py.

HTTP: --rm-type remote_rm --rm-url http://127.0.0.1:8000/. slime waits 120 s and tries ten times. With --reward-key reward add
?object=1. A fault is a 503; when all tries are over, slime raises, and the run stops.
Function: --custom-rm-path winnow_forms.slime.custom_rm (python/ of Winnow in PYTHONPATH). It waits an hour for an answer and
then raises. The label names the task, or metadata["task"]."""
from ._core import Judge, in_thread, numbers, task_in
from ._http import object_of

HTTP_DEFAULTS = {"wait_s": 110}
DEFAULTS = {"wait_s": 3600}
URL_OPTIONS = ("object",)


def _answer(judge, result, as_object):
    reward = judge.value(result)
    return {"reward": reward, **numbers(result)} if as_object else reward


async def custom_rm(args, sample, **_):
    """`sample`: one, or the list of a group (--group-rm). Other arguments are slime's."""
    judge, samples = Judge(DEFAULTS), sample if isinstance(sample, list) else [sample]
    asked = [(task_in(one.metadata, one.label), one.response) for one in samples]
    results = await in_thread(judge.results, asked)
    answers = [_answer(judge, result, bool(getattr(args, "reward_key", None))) for result in results]
    return answers if isinstance(sample, list) else answers[0]


def remote_rm(judge, request):
    body = object_of(request)
    return _answer(judge, judge.result(task_in(body.get("label")), body.get("response") or ""), "object" in request.query)


ROUTES = [("POST", r"/(?:slime)?", remote_rm)]
