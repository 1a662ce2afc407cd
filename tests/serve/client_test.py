#!/usr/bin/env python3
"""python/winnow_client.py and forms of trainers against the real server on the CPU device: client_test.py WINNOW."""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from servers import SOURCES, Server, reply_with

import winnow_client
from winnow_forms import _core, _http, kernelgym, openrlhf, trl, verl

WINNOW = sys.argv[1] if len(sys.argv) > 1 else ""
TOKEN = "0123456789abcdef0123456789abcdef"
GOOD = (SOURCES / "tasks/catalogue/blas/axpy/baseline.cu").read_text()
WRONG = (SOURCES / "tests/buggy/missing_barrier.cu").read_text()


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        rewards = pathlib.Path(cls.folder.name) / "serve.toml"
        rewards.write_text("[serve.reward.half]\ncorrect = 0.5\n")
        cls.server = Server(WINNOW, "serve", "--judge", "--store", pathlib.Path(cls.folder.name) / "s.db", "--device", "cpu",
                            "--time-budget", "20ms", "--config", rewards, "--token-env", "SERVE_TOKEN", environment={"SERVE_TOKEN": TOKEN})
        winnow_client.os.environ.update(WINNOW_SERVER=cls.server.url, WINNOW_TOKEN=TOKEN)
        cls.client = winnow_client.Client(patience=60)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        cls.folder.cleanup()
        assert code == 130, code

    def test_judges_in_the_order_of_the_items(self):
        good, wrong, silent = self.client.judge([{"task": "axpy", "kernel": GOOD}, {"task": "reduce_sum", "kernel": WRONG},
                                                 {"task": "axpy", "reply": "I do not know."}])
        self.assertEqual([r["verdict"] for r in (good, wrong, silent)], ["correct", "wrong", "bad_reply"])
        speedup = good["speedup"]["value"] if good["promoted"] else min(1, good["speedup"]["value"])
        self.assertAlmostEqual(good["reward"], 0.3 + speedup)
        self.assertEqual(good["speedup"]["versus"], "baseline.cu")
        self.assertIn("data race", wrong["feedback"])
        self.assertEqual((wrong["reward"], silent["reward"]), (0, 0))
        again = self.client.judge([{"task": "axpy", "kernel": GOOD}], reward="tiers")[0]
        self.assertEqual((again["job"], again["seconds"]), (good["job"], good["seconds"]))  # not judged again

    def test_judges_as_deep_as_it_is_asked(self):
        compiled, = self.client.judge([{"task": "axpy", "kernel": GOOD}], depth="compile", reward="stages")
        self.assertEqual((compiled["compiled"], compiled["correct"], compiled["verdict"]), (True, False, "not_judged"))
        correct, = self.client.judge([{"task": "axpy", "kernel": GOOD}], depth="correct")
        self.assertEqual((correct["verdict"], correct["speedup"], correct["reward"]), ("correct", None, 0.3))
        broken, = self.client.judge([{"task": "axpy", "kernel": GOOD.replace("__global__", "__globl__")}], depth="compile")
        self.assertEqual((broken["verdict"], broken["compiled"]), ("compile_error", False))

    def test_takes_every_option(self):
        options = dict(reward="half", max_variants=3, priority=5, metadata={"step": 120})
        first, = self.client.judge([{"task": "axpy", "kernel": GOOD}], **options)
        self.assertEqual((first["verdict"], first["reward"], first["cached"]), ("correct", 0.5, False))
        self.assertIn(first["parameters"]["BLOCK"], [128, 256, 512])
        self.assertIsNone(first["speed_of_light"])  # of the CPU device it is not known
        self.assertGreaterEqual(first["queued_seconds"], 0)
        again, = self.client.judge([{"task": "axpy", "kernel": GOOD}], **options)
        self.assertEqual((again["job"], again["cached"], again["queued_seconds"]), (first["job"], True, 0))
        with sqlite3.connect(pathlib.Path(self.folder.name) / "s.db") as store:
            one = lambda sql, *values: store.execute(sql, values).fetchone()[0]
            self.assertEqual(json.loads(one("SELECT metadata FROM judge_batches WHERE priority = 5 LIMIT 1")), {"step": 120})
            tried = "SELECT count(*) FROM evaluations JOIN judge_jobs USING (candidate_id) WHERE job = ? AND turns > 0"
            self.assertGreater(one(tried, first["job"]), 1)  # heats of the other choices

    def test_says_what_is_refused(self):
        with self.assertRaisesRegex(winnow_client.Refused, "did you mean 'axpy'"):
            self.client.judge([{"task": "axpi", "reply": "x"}])
        for options, why in (({"max_variant": 2}, "max_variant is unknown; did you mean 'max_variants'"),
                             ({"priority": 101}, "priority is no whole number"), ({"reward": "hal"}, "did you mean 'half'")):
            with self.assertRaisesRegex(winnow_client.Refused, why):
                self.client.judge([{"task": "axpy", "reply": "x"}], **options)
        with self.assertRaisesRegex(winnow_client.Refused, "401"):
            winnow_client.Client(self.server.url, "wrong token 1234567").tasks()
        by_url = winnow_client.Client(f"http://any:{TOKEN}@127.0.0.1:{self.server.port}")
        self.assertIn("axpy", [task["name"] for task in by_url.tasks()])
        self.assertNotIn("promotion", json.dumps(self.client.task("axpy")["shapes"]))

    def test_forms(self):
        """Forms of trainers (python/tests has their tests) with the real judge behind them."""
        reply, long = reply_with(GOOD), reply_with(GOOD) + "x" * (300 << 10)
        score = verl.compute_score("kernels", reply, "axpy", {"split": "train"}, reward_router_address="r")
        self.assertEqual((score["compiled"], score["correct"], score["fault"]), (1.0, 1.0, 0.0))
        rewards = trl.reward_func()(prompts=["p"] * 3, completions=[reply, [{"role": "assistant", "content": "no"}], long],
                                    completion_ids=[[]] * 3, task=["axpy"] * 3)
        self.assertEqual(rewards, [score["score"], 0, 0])
        answer = openrlhf.judged(_core.Judge(), ["prompt " + reply], ["prompt "], ["axpy"])
        self.assertEqual((answer["rewards"], answer["scores"]), ([score["score"]], [1.0]))
        with _http.server_for(kernelgym) as form:
            threading.Thread(target=form.serve_forever, daemon=True).start()
            tasks = [{"task_id": "t", "entry_point": "axpy", "kernel_code": GOOD}, {"task_id": "u", "task": "axpy", "kernel_code": "no"}]
            request = urllib.request.Request(form.url + "/evaluate/batch", json.dumps({"batch_id": "b", "tasks": tasks}).encode())
            good, bad = json.loads(urllib.request.urlopen(request).read())["results"]
            self.assertEqual((good["correctness"], good["time_coverage"], bad["compiled"]), (True, 1, False))
            self.assertEqual(good["speedup"], score["speedup"])
            form.shutdown()

    def test_a_loop_of_your_own_stands_beside_a_search(self):
        """python/examples/own_loop.py and `winnow bench`, with the same two recorded replies."""
        folder, suite = pathlib.Path(self.folder.name), "tasks/catalogue/blas/axpy"
        replies, store = folder / "two.jsonl", ["--store", str(folder / "s.db")]
        usage = {"prompt_tokens": 900, "completion_tokens": 100}
        replies.write_text("".join(json.dumps({"schema": "winnow.call", "version": 1, "key": f"axpy/0/{i}", "model": "two", "reply": reply,
                                               "finish_reason": "stop", "usage": usage, "dollars": 0.25}) + "\n"
                                   for i, reply in enumerate((reply_with(GOOD), reply_with(GOOD.replace("BLOCK", "WIDTH"))))))
        example = [sys.executable, SOURCES / "python/examples/own_loop.py", replies, "axpy"]
        printed = subprocess.run(example, env={**os.environ, "PYTHONPATH": str(SOURCES / "python")}, check=True, stdout=subprocess.PIPE,
                                 text=True).stdout
        self.assertIn('"calls": 2', printed)
        with self.assertRaisesRegex(winnow_client.Refused, "has ended"):
            winnow_client.Run(self.client, "climb", "external:climb", "recorded-model", ["axpy"]).judge([{"task": "axpy", "reply": "x"}])
        settings = [f"--set={one}" for one in ("run.device=cpu", "run.proposals=2", "run.max_variants=1", "run.finalists=0",
                                               "evaluation.time_budget=20ms", f"endpoint.file={replies}", "endpoint.model=two")]
        subprocess.run([WINNOW, "bench", suite, "--config", "configs/quickstart.toml", *settings, *store], cwd=SOURCES, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        table = json.loads(subprocess.run([WINNOW, "leaderboard", "--suite", suite, *store, "--json"], cwd=SOURCES, check=True,
                                          stdout=subprocess.PIPE).stdout)
        rows = {row["strategy"]: row for row in table["comparison"]["rows"]}
        self.assertEqual(set(rows), {"external:climb", "one-plus-one"})
        for name in ("status", "calls", "prompt_tokens", "completion_tokens", "dollars", "device_names"):
            self.assertEqual(rows["external:climb"][name], rows["one-plus-one"][name], name)
        self.assertEqual(rows["external:climb"]["correct"]["value"], 1)
        self.assertEqual(rows["external:climb"]["run"], "default/climb")
        resumed = subprocess.run([WINNOW, "resume", "default/climb", *store], cwd=SOURCES, stderr=subprocess.PIPE, text=True)
        self.assertEqual(resumed.returncode, 2)
        self.assertIn("keeps the kernels of a loop of its own, and has no search", resumed.stderr)


class SeedTest(unittest.TestCase):
    """--seed-from-batch."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.store = pathlib.Path(self.folder.name) / "s.db"
        self.server = Server(WINNOW, "serve", "--judge", "--store", self.store, "--device", "cpu", "--seed-from-batch")
        self.client = winnow_client.Client(self.server.url, patience=60)

    def tearDown(self):
        self.server.stop()
        self.folder.cleanup()

    def test_kernels_of_a_request_get_the_same_inputs(self):
        items = [{"task": "axpy", "kernel": GOOD + f"// {i}\n"} for i in range(2)]
        one, two = self.client.judge(items, depth="correct")
        alone, = self.client.judge(items[:1], depth="correct")  # another request, other inputs
        self.assertNotEqual(alone["job"], one["job"])
        with sqlite3.connect(self.store) as store:
            seeds = [store.execute("SELECT seed FROM evaluations JOIN judge_jobs USING (candidate_id) WHERE job = ?",
                                   (result["job"],)).fetchone()[0] for result in (one, two, alone)]
        self.assertEqual(seeds[0], seeds[1])
        self.assertNotEqual(seeds[0], seeds[2])
        again, = self.client.judge(items[:1], depth="correct")  # as a retry sends it
        self.assertEqual((again["job"], again["cached"]), (alone["job"], True))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
