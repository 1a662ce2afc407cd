"""What all forms share."""
import email.utils
import math
import threading
import time
import unittest
import unittest.mock

from fake_judge import saying
from forms_fixture import FormTest

import winnow_client
from winnow_client import Client, Run
from winnow_forms._core import Fault, Judge, Refused, Stop, Threads, final_text, numbers, speedup


class Message:
    def __init__(self, role, content):
        self.role, self.content = role, content


class FinalText(unittest.TestCase):
    def test_the_last_message_of_the_assistant(self):
        parts = [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "ker"}, {"type": "output_text", "text": "nel"}]
        tool = {"role": "tool", "content": "verdict=correct"}
        for completion in ("kernel", {"role": "assistant", "content": "kernel"}, {"content": parts}, parts,
                           [{"role": "assistant", "content": "kernel"}], [{"role": "assistant", "content": parts}],
                           [{"role": "assistant", "content": "first"}, tool, {"role": "assistant", "content": "kernel"}],
                           [{"role": "assistant", "content": "kernel"}, tool], [Message("assistant", "kernel"), tool],
                           [{"type": "message", "role": "assistant", "content": "first"}, {"type": "function_call_output", "output": "x"},
                            {"type": "message", "role": "assistant", "content": parts}, {"type": "function_call", "name": "f"}],
                           [{"role": "user", "content": "a prompt"}, {"role": "assistant", "content": ["ker", "nel"]}]):
            self.assertEqual(final_text(completion), "kernel", completion)

    def test_no_text_is_no_kernel(self):
        for completion in (None, "", [], [{"role": "user", "content": "a kernel of the prompt"}], {"role": "assistant", "content": None},
                           [{"role": "assistant", "content": None, "tool_calls": [{}]}, {"role": "tool", "content": "x"}], [7], 7):
            self.assertEqual(final_text(completion), "", completion)


class TheJudge(FormTest):
    def test_what_a_fault_becomes(self):
        result = {"reward": None, "fault": "infrastructure", "detail": "the device was lost"}
        for fault, exception in (("raise", Fault), ("stop", Stop)):
            with self.assertRaisesRegex(exception, "the device was lost"):
                Judge(fault=fault).value(result)
        self.assertIsNone(Judge(fault="none").value(result))
        self.assertTrue(math.isnan(Judge(fault="nan").value(result)))
        self.assertEqual(Judge(fault="-1").value(result), -1)
        judge = Judge(fault="raise", unsupported=0)
        self.assertEqual(judge.value({"reward": None, "fault": "unsupported"}), 0)
        self.assertFalse(issubclass(Stop, Exception))

    def test_refuses_what_is_no_option(self):
        for options in ({"faul": 1}, {"fault": "zero"}, {"fault": "inf"}, {"wait_s": "long"}, {"priority": "high"},
                        {"wait_s": 10 ** 400}, {"wait_s": -10 ** 5000}, {"fault": 10 ** 400}, {"priority": math.inf}):
            with self.assertRaisesRegex(Refused, next(iter(options))):
                Judge(**options)

    def test_threads_run_in_order_and_what_is_cancelled_does_not(self):
        threads, begun, gate, ran = Threads(1), threading.Event(), threading.Event(), []
        first = threads.submit(lambda: (begun.set(), gate.wait(10)))
        begun.wait(10)
        futures = [threads.submit(ran.append, i) for i in range(5)]
        failed = threads.submit(int, "x")
        self.assertTrue(futures[2].cancel())
        self.assertFalse(first.cancel())
        gate.set()
        self.assertIsInstance(failed.exception(10), ValueError)
        self.assertEqual(ran, [0, 1, 3, 4])
        several = Threads(3)
        gates = [several.submit(threading.Barrier.wait, barrier, 10) for barrier in [threading.Barrier(3)] * 6]
        self.assertEqual(sorted(future.result(10) for future in gates), [0, 0, 1, 1, 2, 2])

    def test_options_of_the_call_go_before_the_environment(self):
        self.set_environment(WINNOW_REWARD="log", WINNOW_WAIT_S="7")
        judge = Judge({"wait_s": 1, "reward": "kevin"}, reward="tiers")
        self.assertEqual((judge.wait_s, judge.asked["reward"]), (7, "tiers"))
        self.assertEqual(judge.given(wait_s=2, reward="stages").asked["reward"], "stages")
        self.assertEqual((judge.given(depth="full").wait_s, judge.wait_s), (7, 7))

    def test_asks_again_after_a_fault_until_the_time_is_over(self):
        self.judge.faults = 2
        self.assertEqual(Judge(**self.options).rewards([("axpy", saying()), ("axpy", "no")]), [2.3, 0])
        self.judge.faults = 10 ** 6
        results = Judge(server=self.judge.url, wait_s=0.3).results([("axpy", saying())])
        self.assertEqual((results[0]["fault"], results[0]["reward"]), ("infrastructure", None))

    def test_what_has_no_answer_is_a_fault(self):
        self.judge.slow = True
        judge = Judge(server=self.judge.url, wait_s=0.3)
        self.assertEqual([r["fault"] for r in judge.results([("axpy", saying())] * 2)], ["late"] * 2)
        self.judge.down = True
        self.assertEqual(judge.results([("axpy", saying())])[0]["fault"], "unreachable")
        nobody = Judge(server="http://127.0.0.1:9", wait_s=0.2)
        self.assertEqual(nobody.results([("axpy", saying())])[0]["fault"], "unreachable")

    def test_a_retry_after_of_any_form_is_no_exception(self):
        for said in ("Fri, 31 Dec 1999 23:59:59 GMT", "nan", "-5", "0", "", "soon", "Fri, 99 Foo 0000", "0.01"):
            answers = iter([(503, said, b""), (200, None, b"{}")])
            with unittest.mock.patch.object(Client, "_send", lambda *_: next(answers)):
                self.assertEqual(Client(self.judge.url).call("GET", "/v1/health"), {}, said)
        for said in ("1e999", "Fri, 31 Dec 9999 23:59:59 GMT"):
            self.assertEqual(winnow_client._seconds_in(said), winnow_client.MAX_PAUSE_S)
        in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)
        self.assertAlmostEqual(winnow_client._seconds_in(in_a_minute), 60, delta=5)

    def test_a_reply_that_is_too_long_is_one_bad_reply(self):
        long = saying() + "x" * (300 << 10)
        huge = saying() + "\N{SNOWMAN}" * (40 << 20)
        self.assertEqual(Judge(**self.options).rewards([("axpy", saying()), ("axpy", long), ("axpy", huge)]), [2.3, 0, 0])

    def test_a_batch_is_sent_in_requests_that_fit(self):
        samples = [("axpy", saying(speedup=i % 7) + "x" * 200_000) for i in range(400)]
        self.assertEqual(Judge(server=self.judge.url, wait_s=30).rewards(samples), [0.3 + i % 7 for i in range(400)])
        self.assertGreater(len(self.judge.requests), 1)
        results = Client(self.judge.url).judge([{"task": "axpy", "reply": saying(speedup=i % 7)} for i in range(1500)])
        self.assertEqual([r["reward"] for r in results], [0.3 + i % 7 for i in range(1500)])

    def test_a_reply_with_half_a_character_is_sent(self):
        self.assertEqual(Judge(**self.options).rewards([("axpy", saying() + "\ud83d"), ("axpy", saying(speedup=3))]), [2.3, 3.3])

    def test_an_unknown_task_is_refused(self):
        for samples in ([("axpi", "x")], [(None, "x")], [("axpy", saying()), ("axpi", "x")]):
            with self.assertRaises(Refused):
                Judge(**self.options).results(samples)

    def test_a_speedup_that_is_not_promoted_counts_as_1_at_most(self):
        result = Judge(**self.options).result("axpy", saying(speedup=4.02, promoted=0))
        self.assertEqual((speedup(result), speedup(result, "low"), numbers(result)["speedup"]), (1, 1, 1))
        self.assertEqual(speedup(Judge(**self.options).result("axpy", saying(speedup=0.5, promoted=0))), 0.5)


class TheRun(FormTest):
    def test_numbers_its_calls_and_says_what_they_cost(self):
        with Run(Client(self.judge.url), "a b", "external:evo", "m", ["axpy"], samples=9) as run:
            first, second = run.judge([{"task": "axpy", "reply": saying(), "dollars": 0.5}, {"task": "axpy", "reply": saying()}])
            run.judge([{"task": "axpy", "reply": saying(), "call": 40, "parents": [first["job"]], "tokens": {"input": 7}}], max_variants=3)
            run.judge([{"task": "axpy", "reply": saying()}])
        self.assertEqual((first["verdict"], second["verdict"]), ("correct", "correct"))
        self.assertEqual([item["call"] for item in self.judge.items], [5, 6, 40, 41])  # the server knew four
        self.assertEqual({item["run"] for item in self.judge.items}, {"a b"})
        self.assertEqual((self.judge.items[0]["dollars"], self.judge.items[2]["parents"]), (0.5, [first["job"]]))
        self.assertEqual(self.judge.requests[1]["max_variants"], 3)
        self.assertEqual([path for path, _ in self.judge.runs], ["/v1/runs", "/v1/runs/a%20b/end"])
        self.assertEqual(self.judge.runs[0][1],
                         {"name": "a b", "strategy": "external:evo", "model": "m", "tasks": ["axpy"], "samples": 9})

    def test_sends_a_fault_again_as_the_same_call_and_stays_open_after_an_exception(self):
        self.judge.faults = 1
        with self.assertRaises(ZeroDivisionError), Run(Client(self.judge.url), "r", "external:evo", "m", ["axpy"]) as run:
            result, = run.judge([{"task": "axpy", "reply": saying()}])
            raise ZeroDivisionError
        self.assertIsNone(result["fault"])
        self.assertEqual([item["call"] for item in self.judge.items], [5, 5])
        self.assertEqual(len(self.judge.runs), 1)


if __name__ == "__main__":
    unittest.main()
