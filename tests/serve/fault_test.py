#!/usr/bin/env python3
"""Kills and faults: fault_test.py FAKE_JUDGE_SERVER [KILLS]. The device is a fake; the server, its store and HTTP are real."""
import concurrent.futures
import http.client
import json
import pathlib
import random
import sqlite3
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from servers import Server, kernel_saying, reply_with

import winnow_client
from winnow_forms import _http, kernelgym, openrlhf, slime

FAKE = sys.argv[1] if len(sys.argv) > 1 else ""
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
ITEMS = 20  # of a batch


def post(url, body, timeout):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.loads(answer.read())


def openrlhf_reward(url, prompt, reply, label):
    """As OpenRLHF asks: one sample a request, 180 s, five tries, then None."""
    for _ in range(5):
        try:
            return post(url, {"query": [prompt + reply], "prompts": [prompt], "labels": [label]}, 180)["rewards"][0]
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)  # OpenRLHF waits 1 s
    return None


def slime_reward(url, prompt, reply, label):
    """As slime asks: 120 s, ten tries with growing pauses, then an exception."""
    for attempt in range(10):
        try:
            return post(url, {"prompt": prompt, "response": reply, "label": label}, 120)
        except (OSError, http.client.HTTPException):
            time.sleep(min(0.01 * 2 ** attempt, 0.3))  # slime waits 1 to 30 s
    raise RuntimeError("no reward")


def kernelgym_batch(url, batch, kernels):
    """A batch of KernelGYM, in one request: sent again after 429 and 503."""
    tasks = [{"task_id": f"{batch}.{i}", "task": "axpy", "reference_code": "class Model: pass", "kernel_code": kernel,
              "num_perf_trials": 100, "priority": "normal"} for i, kernel in enumerate(kernels)]
    for attempt in range(30):
        try:
            return post(url, {"batch_id": batch, "tasks": tasks}, 180)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            time.sleep(0.02)
    raise RuntimeError("no answer")


class FaultTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = pathlib.Path(self.folder.name) / "s.db"

    def tearDown(self):
        self.server.kill()
        self.folder.cleanup()

    def form(self, module):
        """A form's server, which gives up soon, so that the trainer tries again."""
        server = _http.server_for(module, server=self.server.url, wait_s=0.02)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.url

    def test_a_fault_is_never_a_reward(self):
        """Every second evaluation meets a fault. No trainer sees a wrong number."""
        self.server = Server(FAKE, self.store, "--lanes", 4, "--delay-ms", 5, "--fault-every", 2)
        samples = [(f"prompt {i}\n", reply_with(kernel_saying("correct", 2 + i % 5, f"f{i}")), 2.3 + i % 5) for i in range(60)]
        for ask, module in ((openrlhf_reward, openrlhf), (slime_reward, slime)):
            url = self.form(module) + "/"
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                rewards = list(pool.map(lambda s: ask(url, s[0], s[1], "axpy"), samples))
            for (_, _, right), reward in zip(samples, rewards):
                self.assertTrue(reward is None or abs(reward - right) < 1e-9, (reward, right))
            self.assertGreater(sum(reward is not None for reward in rewards), 50)
        faults = json.loads(urllib.request.urlopen(self.server.url + "/v1/health").read())["faults"]
        self.assertGreater(faults, 20)  # the test has met what it is about
        results = winnow_client.Client(self.server.url).judge(
            [{"task": "axpy", "kernel": kernel_saying("correct", 2, f"n{i}")} for i in range(40)], retries=0)
        self.assertEqual({r["reward"] for r in results}, {2.3, None})
        self.assertTrue(all((r["reward"] is None) == (r["fault"] == "infrastructure") for r in results))

    def test_a_fault_in_a_batch_is_no_result(self):
        """Every third evaluation meets a fault. A batch of KernelGYM is answered with right results only."""
        self.server = Server(FAKE, self.store, "--lanes", 4, "--delay-ms", 5, "--fault-every", 3)
        url = self.form(kernelgym) + "/evaluate/batch"
        for batch in range(8):
            kernels = [kernel_saying("correct", 2 + i, f"k{batch}.{i}") for i in range(9)] + [kernel_saying("wrong", 0, f"w{batch}")]
            answer = kernelgym_batch(url, f"b{batch}", kernels)
            self.assertEqual((answer["batch_id"], answer["total_tasks"], answer["failed_tasks"]), (f"b{batch}", 10, 0))
            self.assertEqual([r["task_id"] for r in answer["results"]], [f"b{batch}.{i}" for i in range(10)])
            self.assertEqual([(r["status"], r["correctness"], r["speedup"]) for r in answer["results"]],
                             [("completed", True, 2.0 + i) for i in range(9)] + [("completed", False, 0.0)])
        faults = json.loads(urllib.request.urlopen(self.server.url + "/v1/health").read())["faults"]
        self.assertGreater(faults, 10)

    def test_kill_at_any_moment(self):
        """The server is killed again and again. Each id of each batch is answered once and rightly, and no kernel twice."""
        self.server = Server(FAKE, self.store, "--lanes", 2, "--delay-ms", 3)
        stop, failures, answered = threading.Event(), [], []

        def trainer(name):
            client = winnow_client.Client(self.server.url, patience=120)
            step = 0
            while not stop.is_set():
                step += 1
                items = [{"id": f"{name}.{step}.{i}", "task": "axpy",
                          "reply": reply_with(kernel_saying("correct", 1 + i, f"{name}.{step}.{i // 2}"))} for i in range(ITEMS)]
                try:
                    accepted = client.call("POST", "/v1/judge", {"items": items})
                    results = list(client.results(accepted["batch"]))
                    ids = [r["id"] for r in results]
                    if sorted(ids) != sorted(item["id"] for item in items):
                        failures.append(f"{accepted['batch']}: {len(ids)} answers, {len(set(ids))} ids")
                    for r in results:
                        if abs(r["reward"] - min(10, 1.3 + int(r["id"].rsplit(".", 1)[1]))) > 1e-9:
                            failures.append(f"{r['id']}: {r['reward']}")
                    answered.extend(ids)
                except Exception as error:  # of any kind: the trainer must never see one
                    failures.append(repr(error))
                    return

        threads = [threading.Thread(target=trainer, args=(f"t{i}",)) for i in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            time.sleep(random.uniform(0.02, 0.6))
            self.server.kill()
            self.server.start()
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertGreater(len(answered), ITEMS)
        self.assertEqual(len(answered), len(set(answered)))
        self.server.stop()
        with sqlite3.connect(self.store) as store:
            one = lambda sql: store.execute(sql).fetchone()[0]
            self.assertEqual(one("SELECT count(*) FROM evaluations"), one("SELECT count(DISTINCT candidate_id) FROM evaluations"))
            self.assertEqual(one("SELECT count(*) FROM judge_items WHERE place IS NULL AND job IN (SELECT job FROM judge_jobs "
                                 "JOIN evaluations USING (candidate_id))"), 0)
            print(f"{KILLS} kills, {len(answered)} ids answered once, {one('SELECT count(*) FROM evaluations')} evaluations",
                  file=sys.stderr)

    def test_a_run_counts_each_call_once(self):
        """The server is killed while a loop sends its calls."""
        self.server = Server(FAKE, self.store, "--lanes", 2, "--delay-ms", 3)
        client = winnow_client.Client(self.server.url, patience=120)
        run = winnow_client.Run(client, "loop", "external:loop", "m", ["axpy"])
        kernels = [kernel_saying("correct", 2, f"c{i // 3}") for i in range(60)]  # three calls have one kernel

        def loop():
            for i, kernel in enumerate(kernels):
                run.judge([{"task": "axpy", "kernel": kernel, "parents": [i] if i > 0 else [], "dollars": 0.25}])

        thread = threading.Thread(target=loop)
        thread.start()
        for _ in range(KILLS):
            time.sleep(random.uniform(0.02, 0.3))
            self.server.kill()
            self.server.start()
        thread.join()
        shown = run.show()
        self.assertEqual((shown["calls"], shown["stated"]["dollars"], shown["tasks"][0]["not_judged"]), (60, 15, 0))
        with sqlite3.connect(self.store) as store:
            of = lambda table: store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            self.assertEqual([of(t) for t in ("model_calls", "candidates", "evaluations", "judge_jobs", "candidate_parents")],
                             [60, 60, 60, 20, 59])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
