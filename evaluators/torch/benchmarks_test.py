"""Tests of problems that state their sizes: GPU MODE, robust-kbench, kernelbench.com."""

import unittest

from imports_test import ImportCase
import torch

from problem import execute

MEMORY = 16 << 20

UTILS = "from utils import make_match_reference, DeterministicContext\n"
HEAD = "import torch\nfrom task import input_t, output_t\n" + UTILS
SCALED = HEAD + '''
FACTOR = 3

def ref_kernel(data: input_t) -> output_t:
    with DeterministicContext():
        x, out = data
        out[...] = x.float().sum(-1).half() * FACTOR
        return out

def generate_input(rows: int, cols: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.empty(rows, cols, device="cuda", dtype=torch.float16)
    x.uniform_(0, 1, generator=gen)
    return x, torch.empty(rows, device="cuda", dtype=torch.float16).contiguous()

check_implementation = make_match_reference(ref_kernel)

if __name__ == "__main__":
    raise ValueError("not run")
'''
ROWS = [{"rows": 4 * i, "cols": 16 * i, "seed": i} for i in range(1, 5)]


def sizes(reply, part):
    return reply["shapes"][part]


class ProblemCase(ImportCase):
    def ask(self, source, **problem):
        reply = self.child.say({"do": "describe", "source": source, "mode": "eval", "memory_bytes": MEMORY,
                                "problem": {"name": "mine", **problem}})  # fmt: skip
        self.assertIsNone(reply["error"])
        return reply

    def made(self, source, **problem):
        """The description, after an answer of its module at each of its shapes."""
        reply = self.ask(source, **problem)
        self.assertEqual(reply["refused"], "")
        for shapes in reply["shapes"].values():
            for shape in shapes:
                for y, _ in self.answer_at(reply["source"], reply, shape):
                    self.assertTrue(bool(torch.isfinite(y).all()))
        return reply

    def tensors(self, reply):
        return {t["name"]: (t["role"], t["dtype"], t["shape"]) for t in reply["tensors"]}


class GpuModeTest(ProblemCase):
    def gpumode(self, source, tests=(), benchmarks=ROWS, **fields):
        return {"source": source, "form": "gpumode", "tests": list(tests), "benchmarks": list(benchmarks), **fields}

    def refused(self, source, **fields):
        return self.ask(**self.gpumode(source, **fields))["refused"]

    def test_the_tensor_for_results_is_no_input(self):
        tests = [{"rows": 3, "cols": 5, "seed": 1}, {"rows": 70, "cols": 9000, "seed": 2}]
        reply = self.made(**self.gpumode(SCALED, tests, title="Adds rows."))
        self.assertEqual(self.tensors(reply), {
            "x": ("input", "f16", ["rows", "cols"]), "out": ("output", "f16", ["rows"]),
        })  # fmt: skip
        self.assertEqual(reply["title"], "Adds rows")
        self.assertEqual(reply["tensors"][0]["generator"]["kind"], "normal")
        line = "        out = torch.empty((x.shape[0],), dtype=torch.float16, device=x.device)\n"
        self.assertIn(line, reply["source"])
        for word in ("from utils", "from task", "check_implementation", "__main__"):
            self.assertNotIn(word, reply["source"])
        self.assertEqual([shape["rows"] for shape in sizes(reply, "search")], [16, 8, 4])
        self.assertEqual(sizes(reply, "search")[0], {"rows": 16, "cols": 64})
        self.assertIn({"rows": 12, "cols": 48}, sizes(reply, "promotion"))
        self.assertIn({"rows": 3, "cols": 5}, sizes(reply, "tiny"))
        self.assertIn({"rows": 70, "cols": 9000}, sizes(reply, "held_out"))
        axes = [axis["name"] for axis in reply["axes"]]
        self.assertEqual(axes, ["rows", "cols"])  # FACTOR is no size

    def test_the_module_says_what_a_submission_needs(self):
        module = execute(self.made(**self.gpumode(SCALED))["source"], {})
        x, out = torch.zeros(2, 3), torch.zeros(2)
        self.assertIs(module.inputs_of((x, out))[0], x)
        self.assertIs(module.results_of((x, out))[0], out)

    def test_a_tensor_that_is_never_looked_at_is_none(self):
        source = SCALED.replace("        out[...] = x.float().sum(-1).half() * FACTOR\n        return out\n",
                                "        return x.double().sum(-1)\n")  # fmt: skip
        reply = self.made(**self.gpumode(source))
        self.assertIn("return ref_kernel((x, None)).to(torch.float16)\n", reply["source"])
        self.assertEqual(self.tensors(reply)["out"], ("output", "f16", ["rows"]))

    def test_a_result_of_its_own_size(self):
        source = SCALED.replace("torch.empty(rows, device", "torch.empty(rows, cols // part, device").replace(
            "out[...] = x.float().sum(-1).half() * FACTOR", "out[...] = x.reshape(x.shape[0], out.shape[1], -1).sum(-1)"
        ).replace("cols: int", "cols: int, part: int")
        rows = [{**row, "part": 2 << i % 2} for i, row in enumerate(ROWS)]
        reply = self.made(**self.gpumode(source, benchmarks=rows))
        self.assertIn("torch.empty((x.shape[0], cols // part)", reply["source"])
        self.assertEqual(self.tensors(reply)["out"][2], ["rows", "out_1"])

    def test_inputs_that_are_read_stay(self):
        source = SCALED.replace("out[...] = x", "out[...] += x").replace("x, torch.empty(", "x, torch.zeros(")
        reply = self.ask(**self.gpumode(source))
        self.assertIn("return inputs_of(generate_input(rows=rows, cols=cols, seed=1))", reply["source"])
        self.assertIn("return [x, out]", reply["source"])

    def test_each_call_draws_anew(self):
        source = SCALED.replace("generator=gen)", "generator=gen)\n    x = x.cumsum(-1)")
        reply = self.made(**self.gpumode(source))
        self.assertIn("computed input: x", reply["flags"])
        shape = sizes(reply, "tiny")[0]
        first, again, other = (self.values_of(reply["source"], reply, shape, seed)[0][1] for seed in (1, 1, 2))
        self.assertTrue(torch.equal(first, again))
        self.assertFalse(torch.equal(first, other))

    def test_nested_inputs(self):
        source = HEAD + '''
class Config:
    pass

def ref_kernel(data):
    x, weights, config = data
    layer = torch.nn.Linear(config["n"], config["n"]).to(x.device)
    layer.weight = torch.nn.Parameter(weights["a.weight"])
    layer.bias = torch.nn.Parameter(weights["a.bias"])
    return layer(x)

def generate_input(n: int, seed: int):
    weights = {"a.weight": torch.randn(n, n, device="cuda"), "a.bias": torch.randn(n, device="cuda")}
    return torch.randn(2, n, device="cuda"), weights, {"n": n}
'''
        reply = self.made(**self.gpumode(source, benchmarks=[{"n": 8, "seed": 1}, {"n": 12, "seed": 1}]))
        self.assertEqual(list(self.tensors(reply)), ["x", "weights_a_weight", "weights_a_bias", "out"])
        self.assertEqual([flag for flag in reply["flags"] if "no effect" in flag], [])
        config = source.replace('{"n": n}', "Config()").replace('config["n"]', "2")
        self.assertIn("gives a Config", self.refused(config, benchmarks=[{"n": 2, "seed": 1}]))

    def test_values_that_are_no_sizes(self):
        source = SCALED.replace("cols: int, seed", "cols: int, case: str, masked: bool, seed")
        rows = [{**row, "case": case, "masked": False} for row, case in zip(ROWS, ("a", "b", "b", "b"))]
        reply = self.made(**self.gpumode(source, benchmarks=rows))
        self.assertIn("cols=cols, case='b', masked=False, seed=1", reply["source"])
        note = "1 of its sizes are left out: the task has those with case = 'b', masked = False"
        self.assertEqual(reply["notes"], [note])

    def test_lists_of_sizes(self):
        source = HEAD + '''
def ref_kernel(data):
    return [x * 2 for x in data]

def generate_input(m: list, seed: int):
    return [torch.randn(n, 8, device="cuda") for n in m]
'''
        rows = [{"m": [4, 6], "seed": 1}, {"m": [8, 10], "seed": 1}, {"m": [1, 2, 3], "seed": 1}]
        reply = self.made(**self.gpumode(source, benchmarks=rows))
        self.assertIn("\nm = (4, 6)\n", reply["source"])
        self.assertEqual(list(self.tensors(reply)), ["data_0", "data_1", "out_0", "out_1"])
        self.assertIn({"m_0": 8, "m_1": 10}, sizes(reply, "search"))

    def test_a_size_gets_another_name_than_the_files_own(self):
        source = SCALED.replace("FACTOR = 3", "FACTOR = 3\nrows = None")
        self.assertIn("generate_input(rows=rows_, cols=cols, seed=1)", self.made(**self.gpumode(source))["source"])

    def test_refusals_have_a_reason(self):
        for change, word in (
            (("def ref_kernel", "def reference"), "has no ref_kernel()"),
            (("make_match_reference(ref_kernel)", "make_match_reference(None)"), "accepts several answers"),
            (("rows: int", "rank: int, rows: int"), "several GPUs"),
            (("rows: int", "more: int, rows: int"), "task.yml does not say more"),
            (("cols: int", "columns: int"), "task.yml names cols, which"),
            (("FACTOR = 3", "import nothing_of_this_name"), "No module named"),
            (("FACTOR = 3", "from utils import some_table as FACTOR"), "needs some_table of"),
            (("FACTOR = 3", "raise ValueError('broken file')"), "broken file"),
            (("x.float()", "x.flout()"), "flout"),
            (("return out\n", "return out +\n"), "SyntaxError"),
        ):  # fmt: skip
            self.assertIn(word, self.refused(SCALED.replace(*change)))
        self.assertIn("states no sizes", self.refused(SCALED, benchmarks=[]))
        self.assertIn("task.yml", self.refused(SCALED, benchmarks=[{"seed": 3}]))


FORWARD = '''
import torch
import torch.nn as nn

def forward_fn(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)

class Model(nn.Module):
    """A layer."""

    def __init__(self, features: int, classes: int = 6, scale: float = 0.5, init_method: str = "none"):
        super(Model, self).__init__()
        self.weight = nn.Parameter(torch.randn(classes, features) * scale)
        self.bias = nn.Parameter(torch.randn(classes))
        self.other = nn.Parameter(torch.randn(classes))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias)

def get_inputs(batch_size: int = 4, features: int = 8):
    return [torch.randn(batch_size, features, requires_grad=True)]
'''
CONFIG = '''{"single_input_configs": [{"batch_size": 16}], "single_init_configs": [{"init_method": "a"}],
"single_shared_configs": [{"features": 32}], "multi_input_configs": [{"batch_size": 2}, {"batch_size": 8}],
"multi_init_configs": [{"init_method": "a"}, {"init_method": "b"}], "multi_shared_configs": [{"features": 24}]}'''


class RobustTest(ProblemCase):
    def robust(self, source=FORWARD, config=CONFIG, backward=False):
        return {"source": source, "form": "robust-kbench", "config": config, "backward": backward}

    def test_forward(self):
        reply = self.made(**self.robust())
        self.assertEqual(self.tensors(reply)["x"], ("input", "f32", ["batch_size", "features"]))
        self.assertEqual(self.tensors(reply)["weight"], ("input", "f32", ["classes", "features"]))
        self.assertIn({"batch_size": 16, "features": 32, "classes": 6}, sizes(reply, "search"))
        self.assertIn('"scale": 0.5, "init_method": \'a\'', reply["source"])
        self.assertIn("init_method = 'a'", reply["notes"][0])

    def test_backward(self):
        reply = self.made(**self.robust(backward=True))
        found = self.tensors(reply)
        self.assertEqual(reply["title"], "Gradients of mine")
        self.assertEqual(found["grad_output"], ("input", "f32", ["batch_size", "classes"]))
        self.assertEqual([found[f"out_{i}"][2] for i in range(3)],
                         [["batch_size", "features"], ["classes", "features"], ["classes"]])  # fmt: skip
        self.assertNotIn("out_3", found)  # `other` has no gradient

    def test_mistakes(self):
        self.assertIn("JSONDecodeError", self.ask(**self.robust(config="{"))["refused"])
        self.assertIn("gives the argument features", self.ask(**self.robust(LATE, "{}"))["refused"])


LATE = FORWARD.replace("batch_size: int = 4, features: int = 8", "features: int, batch_size: int = 4")
DECK = '''
import torch

BATCH, n = 4, 8

class Model(torch.nn.Module):
    def __init__(self, batch, n):
        super().__init__()

    def forward(self, x):
        return x.softmax(-1)

def get_inputs():
    return [torch.randn(BATCH, n)]

def get_init_inputs():
    return [BATCH, n]
'''


class DeckTest(ProblemCase):
    def deck(self, shapes, source=DECK):
        return {"source": source, "form": "kernelbench.com", "shapes": shapes}

    def test_sizes_of_shapes_py(self):
        shapes = 'E = 64\nSHAPES = [{"batch": 8, "n": E, "extreme": False}, {"batch": 2, "n": 30, "extreme": True}]\n'
        reply = self.made(**self.deck(shapes))
        self.assertEqual(reply["source"], DECK)
        self.assertEqual(sizes(reply, "search"), [{"BATCH": 8, "n": 64}])
        self.assertIn("extreme = True", reply["notes"][0])

    def test_refusals(self):
        self.assertIn("no size of shapes.py", self.ask(**self.deck("SHAPES = []"))["refused"])
        self.assertIn("NameError", self.ask(**self.deck("SHAPES = [E]"))["refused"])
        protocol = DECK.replace("return [torch.randn(BATCH, n)]", "return []")
        self.assertIn("protocol of its own", self.ask(**self.deck("SHAPES = []", protocol))["refused"])


if __name__ == "__main__":
    unittest.main()
