"""Tests of descriptions: what the child says of a module, and that answers follow from it."""

import unittest

from child_for_tests import NETWORK, ChildCase, module, reference
import torch

from describe import STUDY_LIMITS, STUDY_STEPS, shrunk
from drawing import draw
from sizes import Module
from tensors import torch_dtype

MEMORY = 16 << 20

PLAIN_VALUE = '''
import torch

class Model(torch.nn.Module):
    def forward(self, x, factor, mask):
        return torch.where(mask, x * factor, x)

rows, cols = 4000, 3000

def get_inputs():
    return [torch.rand(rows, cols), 3.5, torch.randint(0, 2, (rows, cols)).bool()]

def get_init_inputs():
    return []
'''


class DescribeTest(ChildCase):
    def describe(self, source, mode="train", memory=MEMORY):
        reply = self.child.say(
            {"do": "describe", "source": source, "mode": mode, "memory_bytes": memory}
        )
        self.assertIsNone(reply["error"])
        return reply

    def refused(self, source, **fields):
        return self.describe(source, **fields)["refused"]

    def answer_at(self, source, mode, reply, shape):
        """Asks for an answer at a shape of the description, with inputs drawn as it says."""
        random = torch.Generator().manual_seed(1)
        arguments, state, outputs = [], {}, []
        for tensor in reply["tensors"]:
            extents = [shape.get(extent, extent) for extent in tensor["shape"]]
            dtype = torch_dtype(tensor["dtype"])
            if tensor["role"] == "output":
                outputs.append(torch.empty(extents, dtype=dtype))
                continue
            generator = dict(tensor["generator"])
            if generator["kind"] == "index":
                limit = generator["limit"]
                generator["limit"] = shape[limit] if limit in shape else int(limit)
            values = draw(generator, extents, dtype, random)
            if tensor["state"]:
                state[tensor["state"]] = values
            else:
                arguments.append(values)
        return self.good(source, arguments, outputs, state=state, axes=shape, mode=mode)

    def proves_its_shapes(self, source, mode="train"):
        reply = self.describe(source, mode)
        self.assertEqual(reply["refused"], "")
        for shapes in reply["shapes"].values():
            self.assertTrue(shapes)
            for shape in shapes:
                self.assertEqual(list(shape), [axis["name"] for axis in reply["axes"]])
                for y, scale in self.answer_at(source, mode, reply, shape):
                    self.assertTrue(bool(torch.isfinite(y).all()))
                    self.assertTrue(bool(torch.isfinite(scale).all()))
        return reply

    def passing(self, reply):
        return [row["name"] for row in reply["mutants"] if row["passes"]]

    def test_a_network_in_train_mode(self):
        reply = self.proves_its_shapes(NETWORK)
        tensors = {tensor["name"]: tensor for tensor in reply["tensors"]}
        names = ["x", "linear_weight", "linear_bias", "norm_weight", "norm_bias", "out"]
        self.assertEqual(list(tensors), names)
        self.assertEqual(tensors["x"]["generator"], {"kind": "normal", "mean": [-1.0, 1.0], "std": [0.5, 2.0]})
        self.assertEqual(tensors["x"]["shape"], ["batch", "features"])
        self.assertEqual(tensors["linear_weight"]["shape"], ["classes", "features"])
        self.assertEqual(tensors["linear_weight"]["state"], "linear.weight")
        self.assertTrue(tensors["linear_weight"]["static"])
        fixed = {axis["name"]: axis["fixed"] for axis in reply["axes"]}
        self.assertEqual(fixed, {"batch": False, "features": True, "classes": True})
        self.assertEqual(reply["shapes"]["search"], [{"batch": 16, "features": 48, "classes": 40}])
        self.assertEqual(reply["tolerance"]["precision"], "f32")
        self.assertEqual(self.passing(reply), [])
        self.assertIn("linear.bias has no effect", reply["flags"])
        self.assertNotIn("scaled", reply["flags"])

    def test_a_network_in_eval_mode(self):
        reply = self.proves_its_shapes(NETWORK, "eval")
        states = [tensor["state"] for tensor in reply["tensors"]]
        self.assertIn("norm.running_var", states)
        self.assertNotIn("linear.bias has no effect", reply["flags"])

    def test_a_number_among_the_inputs(self):
        reply = self.proves_its_shapes(PLAIN_VALUE)
        self.assertEqual([t["dtype"] for t in reply["tensors"]], ["f32", "bool", "f32"])
        self.assertEqual(reply["tensors"][1]["generator"], {"kind": "index", "limit": "2"})
        self.assertIn("scaled", reply["flags"])
        self.assertLessEqual(reply["bytes"][0], MEMORY)

    def test_extents_that_are_no_knob(self):
        source = module("return torch.nn.functional.avg_pool1d(x, 2)").replace("4, 5", "40, 50")
        reply = self.proves_its_shapes(source)
        self.assertEqual(reply["tensors"][0]["shape"], ["rows", "cols"])
        self.assertEqual(reply["tensors"][1]["shape"], ["rows", "out_1"])
        self.assertEqual(reply["shapes"]["search"][0]["out_1"], 25)

    def test_what_needs_positive_inputs_gets_its_own(self):
        reply = self.proves_its_shapes(module("return torch.sqrt(x)"))
        self.assertIn("own inputs", reply["flags"])
        own = {"kind": "uniform", "low": 0.0, "high": [0.25, 1.0]}
        self.assertEqual(reply["tensors"][0]["generator"], own)

    def test_what_bears_no_other_distribution_keeps_its_own(self):
        source = module("return torch.sqrt(x - 4)").replace("torch.rand(4, 5)", "torch.randn(4, 5) + 9")
        reply = self.describe(source)
        self.assertEqual(reply["tensors"][0]["generator"], {"kind": "normal", "mean": 9.0, "std": 1.0})

    def test_inputs_that_are_computed(self):
        source = module("return x * 2").replace("torch.rand(4, 5)", "torch.rand(4, 5).tril()")
        reply = self.describe(source)
        self.assertIn("computed input: x", reply["flags"])
        self.assertEqual(reply["tensors"][0]["generator"], {"kind": "reference"})
        constant = source.replace("torch.rand(4, 5)", "(0 * torch.rand(4, 5))")
        self.assertIn("the same inputs each time", self.refused(constant))

    def test_numbers_of_the_constructor_are_scalars(self):
        reply = self.describe(reference("stencil/stencil2d"))
        self.assertEqual(reply["scalars"], [
            {"name": "center", "dtype": "f32", "value": 0.5, "low": 0.25, "high": 0.75},
            {"name": "side", "dtype": "f32", "value": 0.125, "low": 0.0625, "high": 0.1875},
        ])  # fmt: skip

    def test_a_task_of_the_catalogue(self):
        reply = self.proves_its_shapes(reference("reduction/row_softmax"))
        self.assertEqual(reply["tensors"][0]["shape"], ["rows", "cols"])
        self.assertEqual(reply["tensors"][0]["generator"]["std"], [1, 4])
        self.assertEqual(self.passing(reply), [])

    def test_flags(self):
        big = lambda body: module(body).replace("4, 5", "64, 50")
        self.assertIn("step 1 (mul) changes nothing", self.describe(big("return x * 1 + 2"))["flags"])
        flags = self.describe(big("return (x - 100).clamp(min=0)"))["flags"]
        self.assertIn("the output is constant", flags)
        self.assertIn("the output does not depend on the inputs", flags)
        self.assertIn("passes: other inputs", flags)
        self.assertIn("passes: zeros", flags)

    def test_refusals_are_sentences(self):
        cases = {
            "return x + torch.rand_like(x)": "the output is random",
            "return torch.log(-x.abs() - 1)": "NaN or infinite",
            "return torch.empty(10**15) + x[0, 0]": "no smaller sizes fit",
            "return x @ x": "RuntimeError",
            "return 'text'": "forward() returns a str",
        }
        for body, expected in cases.items():
            self.assertIn(expected, self.refused(module(body)))
        hidden = "self.kept = getattr(self, 'kept', None)\nreturn x * self.made.to(x.device)"
        draws = module(hidden).replace(
            "    def forward", "    def __init__(self):\n        super().__init__()\n"
            "        self.made = torch.rand(5)\n    def forward",
        )  # fmt: skip
        self.assertIn("random tensors that the model draws", self.refused(draws))
        self.assertIn("not_there", self.refused("import not_there"))
        self.assertIn("SyntaxError", self.refused("x = ("))
        self.assertIn("no Model", self.refused("x = 1"))

    def test_too_much_memory_is_named(self):
        source = module("return x + torch.zeros(125 * 10**9)[0]")
        self.assertIn("1.25e+11 elements", self.refused(source))

    def test_sizes_with_other_outputs_are_left_out(self):
        source = module("return x if x.shape[0] < 20 else x.sum(0)").replace("4, 5", "64, 50")
        reply = self.proves_its_shapes(source)
        self.assertEqual(len(reply["tensors"][-1]["shape"]), 1)
        self.assertTrue(all(s["rows"] >= 20 for shapes in reply["shapes"].values() for s in shapes))

    def test_more_inputs_than_the_file_gives(self):
        source = module("return x * (more[0] if more else torch.randn(4, 5, device=x.device))")
        self.assertIn("the output is random", self.refused(source))
        longer = "\n\nown = get_inputs\n\n\ndef get_inputs():\n    return [*own(), torch.randn(4, 5)]\n"
        reply = self.describe(source + longer)
        self.assertEqual(reply["refused"], "")
        self.assertEqual([t["role"] for t in reply["tensors"]], ["input", "input", "output"])
        x = torch.randn(4, 5)
        self.good(source, [x, x], [x])  # the file as it is takes them, too

    def test_hidden_shapes_are_not_shown(self):
        for sizes in ("4, 5", "3, 5", "7, 2", "2, 3"):
            shapes = self.describe(module("return x * 2").replace("4, 5", sizes))["shapes"]
            self.assertNotIn(True, [hidden in shapes["tiny"] for hidden in shapes["promotion"]])

    def test_a_study_has_few_steps(self):
        source = module("for i in range(x.shape[0]):\n    x = x * 1.01\nreturn x")
        known = Module(source.replace("4, 5", "9000, 5"), "train")
        values = shrunk(known, STUDY_LIMITS["cpu"])
        self.assertLessEqual(values["size_0"], STUDY_STEPS)
        self.assertGreater(values["size_0"], 100)

    def test_indices_stay_within_literal_sizes(self):
        source = module("return torch.gather(x, 1, more[0])").replace(
            "torch.rand(4, 5)", "torch.rand(500, 8192), torch.randint(0, 8192, (500, 4096))"
        )
        reply = self.proves_its_shapes(source)
        self.assertIn("scaled", reply["flags"])
        self.assertEqual(reply["tensors"][1]["generator"], {"kind": "index", "limit": "cols"})

    def test_children_share_the_cores(self):
        source = module("raise ValueError(f'{torch.get_num_threads()} threads')")
        fields = {"do": "describe", "source": source, "memory_bytes": MEMORY}
        refused = self.child.say({**fields, "children": 1000})["refused"]
        self.assertEqual(refused, "ValueError: 1 threads")

    def test_shared_parameters_are_one_input(self):
        source = module("return self.b(self.a(x))").replace(
            "    def forward", "    def __init__(self):\n        super().__init__()\n"
            "        self.a = nn.Linear(5, 5)\n        self.b = nn.Linear(5, 5)\n"
            "        self.b.weight = self.a.weight\n    def forward",
        )  # fmt: skip
        reply = self.proves_its_shapes(source)
        self.assertIn("shared parameters: a.weight, b.weight", reply["flags"])
        self.assertEqual(len(reply["tensors"]), 5)

    def test_sizes_that_get_inputs_names(self):
        source = module("return x * 2").replace(
            "    return [torch.rand(4, 5)]", "    rows, cols = 400, 500\n    return [torch.rand(rows, cols)]"
        )
        names = [axis["name"] for axis in self.proves_its_shapes(source)["axes"]]
        self.assertEqual(names, ["rows", "cols"])

    def test_layers_that_are_copies_of_one(self):
        source = module("return self.layers(x)").replace(
            "    def forward", "    def __init__(self):\n        super().__init__()\n"
            "        layer = nn.TransformerEncoderLayer(8, 2, 8, dropout=0)\n"
            "        self.layers = nn.TransformerEncoder(layer, 2)\n    def forward",
        ).replace("4, 5", "4, 3, 8")  # fmt: skip
        self.proves_its_shapes(source)


if __name__ == "__main__":
    unittest.main()
