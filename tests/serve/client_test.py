#!/usr/bin/env python3
"""python/winnow_client.py against the real server on the CPU device: client_test.py WINNOW."""
import io
import json
import pathlib
import sys
import tempfile
import unittest

from servers import SOURCES, Server, reply_with

import winnow_client

WINNOW = sys.argv[1] if len(sys.argv) > 1 else ""
TOKEN = "0123456789abcdef0123456789abcdef"
GOOD = (SOURCES / "tasks/catalogue/blas/axpy/baseline.cu").read_text()
WRONG = (SOURCES / "tests/buggy/missing_barrier.cu").read_text()


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server(WINNOW, "serve", "--judge", "--store", pathlib.Path(cls.folder.name) / "s.db", "--device", "cpu",
                            "--time-budget", "20ms", "--token-env", "SERVE_TOKEN", environment={"SERVE_TOKEN": TOKEN})
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
        self.assertAlmostEqual(good["reward"], 0.3 + good["speedup"]["value"])
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

    def test_says_what_is_refused(self):
        with self.assertRaisesRegex(winnow_client.Refused, "did you mean 'axpy'"):
            self.client.judge([{"task": "axpi", "reply": "x"}])
        with self.assertRaisesRegex(winnow_client.Refused, "401"):
            winnow_client.Client(self.server.url, "wrong token 1234567").tasks()
        by_url = winnow_client.Client(f"http://any:{TOKEN}@127.0.0.1:{self.server.port}")
        self.assertIn("axpy", [task["name"] for task in by_url.tasks()])
        self.assertNotIn("promotion", json.dumps(self.client.task("axpy")["shapes"]))

    def test_adapters(self):
        reply = reply_with(GOOD)
        score = winnow_client.verl_compute_score("kernels", reply, "axpy", {"split": "train"})
        self.assertEqual((score["compiled"], score["correct"]), (1.0, 1.0))
        self.assertEqual(winnow_client.trl_reward(["p", "p"], [reply, [{"role": "assistant", "content": "no"}]],
                                                  ["axpy", "axpy"]), [score["score"], 0])
        self.assertEqual(winnow_client.verifiers_reward([{"role": "assistant", "content": reply}], "axpy"), score["score"])
        env = winnow_client.skyrl_env(extras={"task": "axpy", "max_turns": 2})
        first, second = env.step("no kernel"), env.step(reply)
        self.assertEqual((first["reward"], first["done"], second["reward"], second["done"]), (0, False, score["score"], True))
        self.assertIn("code block", first["observations"][0]["content"])
        self.assertEqual(self.nemo_gym("/seed_session", {})[0], "200 OK")
        body = {"responses_create_params": {"input": []}, "verifier_metadata": {"task": "axpy"},
                "response": {"output": [{"type": "message", "content": [{"type": "output_text", "text": reply}]}]}}
        status, answer = self.nemo_gym("/verify", body)
        self.assertEqual((status, answer["reward"], answer["response"]), ("200 OK", score["score"], body["response"]))
        self.assertEqual(self.nemo_gym("/verify", {"response": 1})[0], "422 Unprocessable Entity")

    def nemo_gym(self, path, body):
        text, status = json.dumps(body).encode(), []
        environ = {"PATH_INFO": path, "REQUEST_METHOD": "POST", "CONTENT_LENGTH": len(text), "wsgi.input": io.BytesIO(text)}
        answer = b"".join(winnow_client.nemo_gym_app(environ, lambda line, headers: status.append(line)))
        return status[0], json.loads(answer)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
