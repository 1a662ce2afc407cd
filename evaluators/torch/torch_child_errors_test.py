"""Tests of the child with modules and requests that are wrong."""

import unittest

from child_for_tests import NETWORK, ChildCase, ChildForTests, module, network_state
import torch


class ErrorTest(ChildCase):
    def test_errors_are_sentences_and_end_no_child(self):
        x = torch.randn(4, 5)
        cases = {
            "return x.sum(0)": "but the task says torch.float64 [4, 5]",
            "return x, x": "forward() returns 2 tensors, but the task has 1 outputs",
            "return 'text'": "forward() returns a str",
            "return x > 0": "torch.bool",
            "import sys; sys.exit(3)": "SystemExit: 3",
            "return self.missing": "no attribute 'missing'",
            "return self.forward(x)": "RecursionError",
            "return torch.empty(10**15)": "memory",
        }
        for body, expected in cases.items():
            self.assertIn(expected, self.bad(module(body), [x], [x]))
        for source, expected in {
            "x = (": "SyntaxError",
            "import not_there": "No module named 'not_there'",
            "x = 1": "the file has no Model",
            "Model = get_init_inputs = list": "Model is no torch.nn.Module",
            "raise ValueError('a' * 9999)": "ValueError: aaa",
        }.items():
            error = self.bad(source, [x], [x], axes={"n": 1})
            self.assertIn(expected, error)
            self.assertLessEqual(len(error), 2000)
        self.good(module("return x * 2"), [x], [x])

    def test_a_parameter_needs_an_input(self):
        state, x = network_state(), torch.randn(16, 48)
        del state["linear.bias"]
        error = self.bad(NETWORK, [x], [torch.empty(16, 40)], state=state)
        self.assertIn("no input is the parameter linear.bias", error)
        state["linear.bias"] = torch.randn(3)
        error = self.bad(NETWORK, [x], [torch.empty(16, 40)], state=state)
        self.assertIn("linear.bias is [40], but its input is [3]", error)
        state = dict(network_state(), other=torch.randn(3))
        error = self.bad(NETWORK, [x], [torch.empty(16, 40)], state=state)
        self.assertIn("no parameter or buffer other", error)

    def test_requests_that_are_none(self):
        self.assertIn("JSONDecodeError", self.child.say_text("{")["error"])
        self.assertIn("no request is named sing", self.child.say({"do": "sing"})["error"])
        self.assertIn("KeyError", self.child.say({"do": "answer"})["error"])

    def test_a_module_that_reads_takes_no_request(self):
        x = torch.randn(4, 5)
        self.assertIn("EOFError", self.bad(module("input(); return x"), [x], [x]))
        self.good(module("return x * 2"), [x], [x])

    @unittest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_a_missing_gpu_is_said(self):
        child = ChildForTests("cuda:0")
        child.close()
        self.assertIn("cannot use a GPU here", child.first_line["missing"])

    def test_what_a_module_prints_is_no_answer(self):
        x = torch.randn(4, 5)
        self.good(module("print('hello'); return x * 2"), [x], [x])


if __name__ == "__main__":
    unittest.main()
