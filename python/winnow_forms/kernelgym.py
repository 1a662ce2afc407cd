"""KernelGYM's client, written for hkust-nlp/KernelGYM 3a84417f (Dr. Kernel): drkernel/kernel/rewards/reward_client.py,
submit_and_poll; kernelgym/server/api/server.py.

server_url: http://127.0.0.1:8000. `kernel_code` is a kernel file or a reply with one; Winnow does not run `reference_code`.
`task`, ?task= or `entry_point` names the task. Dr. Kernel's client lets a kernel through only with the text `class XNew`, and
the reference with `class X`, where X is the `entry_point`: give the rows "entry_point": "axpy" and the reference
`class axpy`, and ask the model for the comment `// class axpyNew`.

While a fault lasts, the client hears "processing" and polls on. When its own time (task_timeout_in_client) is over, it makes
a reward of -1 of that: set the time high. A batch with a fault is a 503; what is known is not judged again. With
--fault NUMBER a fault is the status "failed", of which the client makes its own penalty. An unknown task is refused at once,
but not while nobody can reach the judge: then the client polls until its own time is over.

All kernels of a kernel file are the model's, so the coverage of a correct kernel is 1. A kernel that is not promoted has a
speedup of 1 at most."""
import collections
import contextlib
import hashlib
import sys
import threading
import time
import urllib.parse

from winnow_client import MAX_TEXT

from ._core import Fault, Refused, Threads, speedup, task_in
from ._http import MAX_KEPT, Answer, list_of, object_of, text_of

HTTP_DEFAULTS = {"wait_s": 170}
MOST_TASKS = 100      # of a batch, as KernelGYM itself
MOST_KNOWN = 20_000  # tasks of which the form remembers the answer
KEEP_S = 3600         # a task about which nobody asks for so long is forgotten
MOST_NAME = 200       # characters of a task_id, or of a task
MOST_WAIT_S = 5      # for what a trainer waits for itself: Dr. Kernel waits 10 s for /health, ROLL 20 s for a submission
PRIORITIES = {"high": 1, "low": -1}


class Evaluation:
    """A kernel that is judged on a thread. Its text counts in the server until nobody will ask the judge for it again."""

    def __init__(self, server, judge, task, text):
        self.judge, self.task, self.text, self.server = judge, task, text[:MAX_TEXT], server
        self.asks, self.is_dropped, self.asked_at = 0, False, time.monotonic()
        self.result = self.refusal = None
        self.size = 4096 + sum(sys.getsizeof(value) for value in (self.text, *judge.options.values()))
        self.lock = threading.Lock()
        if not server.hold(self.size, MAX_KEPT):
            raise Fault("too many kernels have no result yet")

    def start(self, threads):
        with self.lock:
            self.asks += 1
        threads.submit(self.ask)

    def ask(self):
        """Runs on a thread."""
        try:
            with self.lock:
                judge, task, text = self.judge, self.task, self.text
            if text is not None:
                self.take(judge, judge.result(task, text))
        except Refused as error:  # only its words: the error itself would keep the text
            self.refusal = str(error)
        except BaseException:  # Stop too: it is asked again, as long as the client polls
            pass
        with self.lock:
            self.asks -= 1
        self.forget_unneeded()

    def take(self, judge, result):
        if result["reward"] is not None or not _keeps_asking(judge, result):
            self.result = result

    def forget_unneeded(self):
        with self.lock:
            is_needed = self.asks or not (self.is_dropped or self.result or self.refusal)
            if is_needed or self.text is None:
                return
            self.judge = self.text = None
        self.server.hold(-self.size)


class Evaluations:
    """The tasks that clients ask about by their id: what they sent, and the answer."""

    def __init__(self):
        self.known, self.lock, self.tasks = collections.OrderedDict(), threading.Lock(), set()  # known: the last asked last
        self.threads = Threads(256)

    def require_task(self, judge, task):
        """Refuses an unknown task at once: later the client would make a reward of it. While nobody answers, each task may be
        sent: its client does not come again for long, and makes a reward of what it could not send."""
        if len(task or "") > MOST_NAME:
            raise Refused(f"there is no task {task[:MOST_NAME]!r}")
        if task not in self.tasks:
            with contextlib.suppress(Fault):
                soon(judge, "/v1/tasks/" + urllib.parse.quote(task or "-"))
                self.tasks.add(task)

    def submit(self, server, judge, task_id, task, text):
        self.require_task(judge, task)
        self.drop_old()
        evaluation = Evaluation(server, judge, task, text)
        with self.lock:
            self.drop(self.known.pop(_key(judge, task_id), None))
            self.known[_key(judge, task_id)] = evaluation
            evaluation.start(self.threads)

    def drop_old(self):
        with self.lock:
            while self.known:
                oldest = next(iter(self.known.values()))
                if len(self.known) < MOST_KNOWN and oldest.asked_at + KEEP_S > time.monotonic():
                    return
                self.drop(self.known.popitem(last=False)[1])

    @staticmethod
    def drop(evaluation):
        if evaluation:
            evaluation.is_dropped = True
            evaluation.forget_unneeded()

    def result(self, judge, task_id):
        """The result; None while there is none. A fault is asked again, as long as the client polls."""
        with self.lock:
            evaluation = self.known.get(_key(judge, task_id))
            if evaluation is None:
                raise Answer(404, {"error": f"nobody sent a task_id {task_id[:MOST_NAME]!r}"})
            self.known.move_to_end(_key(judge, task_id))
            evaluation.asked_at = time.monotonic()
            if evaluation.refusal:
                raise Refused(evaluation.refusal)
            if evaluation.result is None and not evaluation.asks:
                evaluation.start(self.threads)
            return evaluation.result


def _key(judge, task_id):
    token = judge.options.get("token") or ""
    return hashlib.sha256(token.encode(errors="replace")).digest(), task_id


def soon(judge, target):
    return judge.client.call("GET", target, end=time.monotonic() + min(judge.wait_s, MOST_WAIT_S))


def _keeps_asking(judge, result):
    return isinstance(judge.unsupported if result["fault"] == "unsupported" else judge.fault, str)


EVALUATIONS = Evaluations()


def sample_of(judge, body):
    """(judge, task_id, (task, kernel)) of one task."""
    task_id, kernel = text_of(body, "task_id"), text_of({"kernel_code": "", **body}, "kernel_code")
    if not 0 < len(task_id) <= MOST_NAME:
        raise Refused(f"task_id is no text of 1 to {MOST_NAME} characters")
    if "```" not in kernel:
        end = "" if kernel.endswith("\n") else "\n"
        kernel = f"```cuda\n{kernel}{end}```\n"
    if body.get("priority") in PRIORITIES and "priority" not in judge.options:
        judge = judge.given(priority=PRIORITIES[body["priority"]])
    return judge, task_id, (task_in(body, judge.task, body.get("entry_point")), kernel)


def status_of(task_id, result):
    """KernelGYM's form of a result; None: there is none yet."""
    if result is None:
        return {"task_id": task_id, "status": "processing"}
    if result["reward"] is None:
        return {"task_id": task_id, "status": "failed", "error_code": result["fault"], "error_message": result.get("detail")}
    correct, ratio, milliseconds = bool(result["correct"]), speedup(result), (result.get("time_ns") or 0) / 1e6
    covered = 1 if correct else 0
    microseconds = (milliseconds * 1e3 or 1.0) * covered  # without times the coverage is 1, too
    return {"task_id": task_id, "status": "completed", "compiled": bool(result["compiled"]), "correctness": correct,
            "decoy_kernel": False, "speedup": ratio, "kernel_runtime": milliseconds,
            "reference_runtime": milliseconds * ratio, "error_message": None if correct else result.get("feedback"),
            "error_code": None if correct else result["verdict"], "processing_time": result.get("seconds", 0.0),
            "num_custom_kernel": covered, "num_total_kernels": covered,
            "custom_kernel_cuda_time_in_profiling_us": microseconds, "total_kernel_run_time_in_profiling_us": microseconds,
            "time_coverage": float(covered), "num_coverage": float(covered),
            "metadata": {"reward": result["reward"], "winnow_job": result.get("job", ""), "num_custom_kernels": covered,
                         "num_total_kernels": covered}}


def evaluate(judge, request):
    judge, task_id, sample = sample_of(judge, object_of(request))
    EVALUATIONS.submit(request.handler.server, judge, task_id, *sample)
    return {"task_id": task_id, "status": "pending"}


def show(judge, request):
    return status_of(request.parts[0], EVALUATIONS.result(judge, request.parts[0]))


def evaluate_batch(judge, request):
    body = object_of(request)
    tasks = [sample_of(judge, task) for task in list_of(body, "tasks", MOST_TASKS)]
    ids = [task_id for _, task_id, _ in tasks]
    if not ids or len(set(ids)) < len(ids):
        raise Refused("tasks is no list of at least one task, each with a task_id of its own")
    results = tasks[0][0].results([sample for _, _, sample in tasks])
    for (one, _, _), result in zip(tasks, results):
        if result["reward"] is None and _keeps_asking(one, result):
            raise Fault(f"nobody could judge a kernel: {result['fault']}: {result.get('detail', '')}")
    answers = [status_of(task_id, result) for task_id, result in zip(ids, results)]
    failed = sum(answer["status"] == "failed" for answer in answers)
    return {"batch_id": body.get("batch_id"), "total_tasks": len(ids), "completed_tasks": len(ids) - failed,
            "failed_tasks": failed, "batch_status": "completed", "results": answers}


def health(judge, request):
    """Dr. Kernel starts only if it reads "healthy"."""
    return {**soon(judge, "/v1/health"), "status": "healthy"}


ROUTES = [("POST", r"/evaluate", evaluate), ("POST", r"/evaluate/batch", evaluate_batch), ("GET", r"/status/(.+)", show),
          ("GET", r"/results/(.+)", show), ("GET", r"/health", health)]
