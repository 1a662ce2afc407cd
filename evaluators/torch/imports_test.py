"""Tests of descriptions of modules as people write them today: axes, names, growth, dtypes and structures."""

import unittest

from child_for_tests import ChildCase
import torch

from drawing import draw
from tensors import Memory, task_dtype, torch_dtype

MEMORY = 16 << 20
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"


def file(forward, inputs, init="", arguments="self, x", constructor="self", init_inputs="[]"):
    """A module file; `init` and `forward` are bodies."""
    indent = lambda body: body.replace("\n", "\n        ")
    return (
        f"{HEAD}class Model(nn.Module):\n    def __init__({constructor}):\n        super().__init__()\n        "
        f"{indent(init)}\n\n    def forward({arguments}):\n        {indent(forward)}\n\n"
        f"def get_inputs():\n    {inputs}\n\ndef get_init_inputs():\n    return {init_inputs}\n"
    )


class ImportCase(ChildCase):
    def describe(self, source, mode="train", memory=MEMORY):
        reply = self.child.say({"do": "describe", "source": source, "mode": mode, "memory_bytes": memory})
        self.assertIsNone(reply["error"])
        return reply

    def described(self, source, **fields):
        """The description, after an answer at each of its shapes."""
        reply = self.describe(source, **fields)
        self.assertEqual(reply["refused"], "")
        for shapes in reply["shapes"].values():
            for shape in shapes:
                for y, scale in self.answer_at(source, reply, shape):
                    self.assertTrue(bool(torch.isfinite(y).all()))
                    self.assertTrue(bool(torch.isfinite(scale).all()))
        return reply

    def extents(self, tensor, shape):
        return [shape.get(extent, extent) for extent in tensor["shape"]]

    def axes_of(self, reply, shape):
        return {**shape, **{knob: shape[axis] for knob, axis in reply["knobs"].items()}}

    def values_of(self, source, reply, shape, seed=1):
        """[(tensor, values)] of the inputs, drawn as Winnow would."""
        random = torch.Generator().manual_seed(seed)
        found = []
        for tensor in reply["tensors"]:
            generator = dict(tensor.get("generator") or {})
            if generator.get("kind") == "index":
                limit = generator["limit"]
                generator["limit"] = shape[limit] if limit in shape else int(limit)
            if tensor["role"] != "output":
                values = None
                if generator["kind"] != "reference":
                    values = draw(generator, self.extents(tensor, shape), torch_dtype(tensor["dtype"]), random)
                found.append([tensor, values])
        return self.with_computed(source, reply, shape, found, seed)

    def with_computed(self, source, reply, shape, found, seed):
        computed = [entry for entry in found if entry[1] is None]
        arguments = [tensor["name"] for tensor, _ in found if not tensor["state"]]
        forms = [torch.empty(self.extents(t, shape), dtype=torch_dtype(t["dtype"])) for t, _ in computed]
        offsets, inputs = self.child.layout(forms), []
        for (tensor, _), form, offset in zip(computed, forms, offsets):
            place = {"state": tensor["state"]} if tensor["state"] else {"index": arguments.index(tensor["name"])}
            inputs.append({"name": tensor["name"], "dtype": task_dtype(form.dtype), "shape": list(form.shape),
                           "offset": offset, **place})  # fmt: skip
        if inputs:
            reply = self.child.say({"do": "inputs", "source": source, "axes": self.axes_of(reply, shape),
                                    "seed": seed, "static_seed": seed + 5, "inputs": inputs})  # fmt: skip
            self.assertIsNone(reply["error"])
        for entry, form, offset in zip(computed, forms, offsets):
            entry[1] = Memory(self.child.file).view(offset, form.dtype, list(form.shape)).clone()
        return found

    def answer_at(self, source, reply, shape, mode="train"):
        values = self.values_of(source, reply, shape)
        arguments = [value for tensor, value in values if not tensor["state"]]
        state = {tensor["state"]: value for tensor, value in values if tensor["state"]}
        outputs = [
            torch.empty(self.extents(t, shape), dtype=torch_dtype(t["dtype"]))
            for t in reply["tensors"] if t["role"] == "output"
        ]  # fmt: skip
        return self.good(source, arguments, outputs, state=state, axes=self.axes_of(reply, shape), mode=mode)

    def passing(self, reply):
        return [row["name"] for row in reply["mutants"] if row["passes"]]

    def axes(self, reply):
        return {axis["name"]: axis["value"] for axis in reply["axes"]}

    def shape_of(self, reply, name):
        return next(tensor["shape"] for tensor in reply["tensors"] if tensor["name"] == name)

    def operations(self, reply, shape=None):
        return eval(reply["operations_text"], {}, dict(shape or reply["shapes"]["search"][0]))

    def hidden(self, reply):
        return reply["shapes"]["promotion"] + reply["shapes"]["held_out"]


class AxesTest(ImportCase):
    def test_sizes_that_vary_together_are_one_axis(self):
        source = file("return F.scaled_dot_product_attention(q, k, v)", "return [torch.randn(2, 4, 64, 32), "
                      "torch.randn(2, 4, 64, 32), torch.randn(2, 4, 64, 32)]", arguments="self, q, k, v")  # fmt: skip
        reply = self.described(source)
        self.assertEqual(self.shape_of(reply, "q")[:2], ["batch", "heads"])
        self.assertEqual(self.shape_of(reply, "q"), self.shape_of(reply, "out")[:3] + [self.shape_of(reply, "k")[3]])
        self.assertEqual(self.shape_of(reply, "k")[2], self.shape_of(reply, "v")[2])
        self.assertEqual(reply["knobs"]["size_4"], "batch")

    def test_products_of_literals(self):
        source = file("return a @ b", "return [torch.randn(96, 64), torch.randn(64, 48)]", arguments="self, a, b")
        reply = self.described(source)
        self.assertEqual([self.shape_of(reply, name) for name in ("a", "b", "out")], [["m", "k"], ["k", "n"], ["m", "n"]])
        self.assertEqual(reply["operations_text"], "2 * m * k * n")
        self.assertFalse(any(axis["fixed"] for axis in reply["axes"]))

    def test_square_products_have_three_sizes(self):
        source = file("return a @ b", "return [torch.randn(64, 64), torch.randn(64, 64)]", arguments="self, a, b")
        self.assertEqual(self.axes(self.described(source)), {"m": 64, "k": 64, "n": 64})

    def test_literals_of_the_constructor_follow(self):
        source = file("return self.f(x)", "return [torch.randn(32, 48)]", "self.f = nn.Linear(wide, out)",
                      constructor="self, wide, out", init_inputs="[48, 40]")  # fmt: skip
        reply = self.described(source)
        self.assertEqual(self.axes(reply), {"batch": 32, "wide": 48, "out": 40})
        self.assertEqual(reply["knobs"], {"size_0": "batch", "size_1": "wide"})
        self.assertEqual(reply["operations_text"], "2 * batch * wide * out")
        self.assertNotIn("one shape", reply["flags"])

    def test_a_number_without_a_tensor_is_no_axis(self):
        forward = "g = x.shape[1] // s.shape[1]\nreturn (x.view(x.shape[0], -1, g) * s.unsqueeze(-1)).flatten(1)"
        for names in ("n, k, g = 64, 512, 32", "n = 64; k = 512; g = 32"):
            inputs = f"{names}\n    return [torch.randn(n, k), torch.rand(n, k // g) + 1]"
            reply = self.described(file(forward, inputs, arguments="self, x, s"))
            self.assertEqual(list(self.axes(reply)), ["n", "k", "s_1"])
            for shape in self.hidden(reply):
                self.assertEqual(shape["k"] % shape["s_1"], 0)
                self.assertEqual(shape["s_1"], shape["k"] // 32)
            self.assertNotEqual({shape["k"] for shape in self.hidden(reply)}, {512})
        source = file(forward, "return [torch.randn(n, k), torch.rand(n, k // g) + 1]", arguments="self, x, s")
        reply = self.described(source.replace("class Model", "n, k, g = 64, 512, 32\n\nclass Model"))
        self.assertEqual(list(self.axes(reply)), ["n", "k", "s_1"])

    def test_heads_are_no_axis_of_literals(self):
        forward = "b, t, d = x.shape\nreturn self.f(x.view(b, t, self.heads, -1).transpose(1, 2).reshape(b, t, d))"
        source = file(forward, "return [torch.randn(2, 16, 32)]", "self.heads = heads\nself.f = nn.Linear(dim, dim)",
                      constructor="self, dim, heads", init_inputs="[32, 4]")  # fmt: skip
        self.assertEqual(list(self.axes(self.described(source))), ["batch", "seq", "dim"])

    def test_names_of_literal_sizes(self):
        cases = {
            "torch.randn(64)": ["n"],
            "torch.randn(20, 30)": ["rows", "cols"],
            "torch.randn(2, 3, 10)": ["batch", "seq", "features"],
            "torch.randn(2, 3, 10, 12)": ["batch", "channels", "height", "width"],
        }
        for inputs, names in cases.items():
            reply = self.described(file("return x * 2", f"return [{inputs}]"))
            self.assertEqual(list(self.axes(reply)), names)

    def test_a_collision_gets_a_number(self):
        source = file("return x.sum(1) + y.sum(1).sum()", "return [torch.randn(16, 24), torch.randn(20, 40)]",
                      arguments="self, x, y")  # fmt: skip
        self.assertEqual(list(self.axes(self.described(source))), ["rows", "cols", "rows_2", "cols_2"])
        source = file("return x + rows", "return [torch.randn(16, 24), torch.randn(16, 24)]",
                      arguments="self, x, rows")  # fmt: skip
        self.assertEqual(list(self.axes(self.described(source))), ["rows_2", "cols"])

    def test_names_of_the_module_stay(self):
        source = file("return x * 2", "return [torch.randn(*shape, N)]")
        reply = self.described(source.replace("class Model", "N = 16\nshape = (8, 4)\n\nclass Model"))
        self.assertEqual(list(self.axes(reply)), ["N", "shape_0", "shape_1"])
        self.assertEqual(reply["knobs"], {})


class GrowthTest(ImportCase):
    def test_a_cube(self):
        source = file("return torch.einsum('ikd,jkd->ijd', x, x)", "n = 24\n    return [torch.randn(n, n, 8)]")
        reply = self.described(source)
        shape = reply["shapes"]["search"][0]
        larger = {**shape, "n": 2 * shape["n"]}
        self.assertAlmostEqual(self.operations(reply, larger) / self.operations(reply), 8, delta=0.1)

    def test_convolutions_and_loops(self):
        steps = "h = x[:, 0]\nfor t in range(x.shape[1]):\n    h = torch.tanh(self.f(h) + x[:, t])\nreturn h"
        cases = {
            file("return self.c(x)", "return [torch.randn(2, 4, 40, 40)]", "self.c = nn.Conv2d(4, 8, 3)"): "height",
            file(steps, "return [torch.randn(4, 12, 16)]", "self.f = nn.Linear(16, 16)"): "seq",
        }
        for source, axis in cases.items():
            reply = self.described(source)
            counted = reply["operations"][0]
            self.assertAlmostEqual(self.operations(reply) / counted, 1, delta=0.05)
            shape = reply["shapes"]["search"][0]
            ratio = self.operations(reply, {**shape, axis: 2 * shape[axis]}) / counted
            self.assertAlmostEqual(ratio, 2, delta=0.15)
            self.assertNotIn("/", reply["operations_text"])

    def test_constants_of_a_convolution_are_left_out(self):
        source = file("return F.relu(self.c(x))", "return [torch.rand(batch, c_in, height, width)]",
                      "self.c = nn.Conv2d(c_in, c_out, kernel_size, stride=stride, padding=padding, groups=groups)",
                      constructor="self, c_in, c_out, kernel_size, stride, padding, groups",
                      init_inputs="[c_in, c_out, kernel_size, stride, padding, groups]")  # fmt: skip
        sizes = dict(batch=4, c_in=8, c_out=16, kernel_size=3, stride=1, padding=0, groups=2, height=40, width=24)
        lines = "".join(f"{name} = {value}\n" for name, value in sizes.items())
        reply = self.described(source.replace("class Model", lines + "\n\nclass Model"))
        self.assertEqual(reply["operations_text"].split(" * ", 1)[1].split(" + ")[0], "batch * c_in * c_out * height * width")
        self.assertNotIn("kernel_size", reply["operations_text"])
        self.assertAlmostEqual(self.operations(reply) / reply["operations"][0], 1, delta=0.05)

    def test_copies_count_what_they_write(self):
        reply = self.described(file("return x.t().contiguous()", "return [torch.randn(40, 30)]"))
        self.assertEqual(reply["operations_text"], "rows * cols")


class DtypesTest(ImportCase):
    def test_parameters_in_narrow_dtypes(self):
        for name in ("bfloat16", "float16"):
            makers = [f"nn.Linear(48, 48).to(torch.{name})", f"nn.Linear(48, 48, dtype=torch.{name})",
                      f"nn.Sequential(nn.Linear(48, 64), nn.GELU(), nn.Linear(64, 48)).to(torch.{name})"]  # fmt: skip
            for maker in makers:
                source = file("return self.f(x)", f"return [torch.randn(16, 48, dtype=torch.{name})]", f"self.f = {maker}")
                reply = self.described(source)
                self.assertEqual({t["dtype"] for t in reply["tensors"]}, {"bf16" if name == "bfloat16" else "f16"})
                self.assertEqual(self.passing(reply), [])

    def test_a_whole_model_in_bf16(self):
        source = file("return self.n(self.f(x) + self.e)", "return [torch.randn(16, 48).bfloat16()]",
                      "self.f = nn.Linear(48, 48, bias=False)\nself.n = nn.LayerNorm(48)\n"
                      "self.e = nn.Parameter(torch.randn(48))\nself.bfloat16()")  # fmt: skip
        reply = self.described(source)
        self.assertEqual({t["dtype"] for t in reply["tensors"]}, {"bf16"})
        self.assertEqual(self.passing(reply), [])

    def test_mixed_dtypes(self):
        source = file("return self.n(self.f(x).float())", "return [torch.randn(16, 48, dtype=torch.bfloat16)]",
                      "self.f = nn.Linear(48, 40).to(torch.bfloat16)\nself.n = nn.LayerNorm(40)")  # fmt: skip
        dtypes = {t["name"]: t["dtype"] for t in self.described(source)["tensors"]}
        self.assertEqual((dtypes["f_weight"], dtypes["n_weight"], dtypes["out"]), ("bf16", "f32", "f32"))

    def test_shared_narrow_parameters(self):
        source = file("return F.linear(F.gelu(self.f(x)), self.g.weight)", "return [torch.randn(16, 48).bfloat16()]",
                      "self.f = nn.Linear(48, 48)\nself.g = nn.Linear(48, 48)\nself.g.weight = self.f.weight\n"
                      "self.bfloat16()")  # fmt: skip
        self.assertIn("shared parameters: f.weight, g.weight", self.described(source)["flags"])


PACKED = """w = torch.randn(out, wide) * 0.05
groups = w.view(out, wide // 32, 32)
low, high = groups.amin(-1), groups.amax(-1)
scales = ((high - low) / 15).clamp(min=1e-6)
zeros = (-low / scales).round().clamp(0, 15)
q = ((groups / scales.unsqueeze(-1)).round() + zeros.unsqueeze(-1)).clamp(0, 15).to(torch.int32).view(out, -1, 8)
packed = torch.zeros(out, wide // 8, dtype=torch.int32)
for i in range(8):
    packed |= q[:, :, i] << (4 * i)
self.register_buffer("packed", packed)
self.register_buffer("scales", scales.to(DTYPE))
self.register_buffer("zeros", zeros.to(torch.uint8))
self.bias = nn.Parameter(torch.randn(out, dtype=DTYPE))"""

UNPACKED = """n, k = self.packed.shape[0], self.packed.shape[1] * 8
q = torch.stack([(self.packed >> (4 * i)) & 15 for i in range(8)], -1).view(n, -1, 32)
w = (q - self.zeros.unsqueeze(-1)).to(DTYPE) * self.scales.unsqueeze(-1)
return x @ w.view(n, k).t() + self.bias"""


def four_bits(dtype, init=PACKED, size="64"):
    inputs = f"return [torch.randn(16, {size}, dtype={dtype})]"
    return file(UNPACKED, inputs, init, constructor="self, wide, out", init_inputs=f"[{size}, 40]").replace("DTYPE", dtype)


class StructureTest(ImportCase):
    def tensors(self, reply):
        return {tensor["name"]: tensor for tensor in reply["tensors"]}

    def test_a_layer_of_four_bits(self):
        for dtype in ("torch.float32", "torch.float16"):
            source = four_bits(dtype)
            reply = self.described(source)
            tensors = self.tensors(reply)
            for name, kind in {"packed": "i32", "zeros": "u8", "scales": task_dtype(eval(dtype))}.items():
                self.assertEqual(tensors[name]["generator"], {"kind": "reference"})
                self.assertEqual((tensors[name]["state"], tensors[name]["static"]), (name, True))
                self.assertEqual(tensors[name]["dtype"], kind)
            self.assertEqual(tensors["bias"]["generator"]["kind"], "reference")
            names = {row["name"] for row in reply["mutants"]}
            self.assertTrue({"zeros", "other inputs", "half of the inputs"} <= names)
            self.assertEqual(self.passing(reply), [])

    def test_state_follows_its_seed(self):
        source = four_bits("torch.float32")
        reply = self.describe(source)
        shape = reply["shapes"]["search"][0]
        drawn = lambda seed: {t["name"]: v for t, v in self.values_of(source, reply, shape, seed) if t["state"]}
        one, again, other = drawn(1), drawn(1), drawn(2)
        for name in ("packed", "scales", "zeros"):
            self.assertTrue(torch.equal(one[name], again[name]))
            self.assertFalse(torch.equal(one[name], other[name]))
        weights = (one["packed"][:, :, None] >> (4 * torch.arange(8, dtype=torch.int32)) & 15).view(40, -1, 32)
        weights = (weights - one["zeros"][:, :, None].int()) * one["scales"][:, :, None]
        self.assertLess(abs(float(weights.std()) - 0.05), 0.01)

    def test_a_seed_in_the_constructor_is_not_kept(self):
        maker = "torch.randn(out, wide, generator=torch.Generator().manual_seed(3)) * 0.05"
        seeds = ["torch.manual_seed(0)\n" + PACKED, PACKED.replace("torch.randn(out, wide) * 0.05", maker, 1)]
        for init in seeds:
            self.assertEqual(self.tensors(self.described(four_bits("torch.float32", init)))["packed"]["static"], True)

    def test_integer_parameters_are_no_noise(self):
        init = PACKED.replace('self.register_buffer("packed", packed)',
                              "self.packed = nn.Parameter(packed, requires_grad=False)")  # fmt: skip
        init = init.replace('self.register_buffer("scales", scales.to(DTYPE))',
                            "self.scales = nn.Parameter(scales.to(DTYPE), requires_grad=False)")  # fmt: skip
        reply = self.described(four_bits("torch.float32", init))
        for name in ("packed", "scales", "zeros"):
            self.assertEqual(self.tensors(reply)[name]["generator"], {"kind": "reference"})
        self.assertEqual(self.passing(reply), [])

    def test_a_codebook(self):
        init = ('self.register_buffer("codes", torch.randint(0, 16, (40, 48)))\n'
                'self.register_buffer("table", torch.linspace(-1, 1, 16))')  # fmt: skip
        source = file("return x @ self.table[self.codes].t()", "return [torch.randn(16, 48)]", init)
        reply = self.described(source)
        self.assertEqual(list(self.tensors(reply)), ["x", "codes", "out"])
        self.assertEqual(self.passing(reply), [])

    def test_a_random_mask(self):
        init = ('self.f = nn.Linear(48, 40)\n'
                'self.register_buffer("mask", torch.rand(40, 48) < 0.5)')  # fmt: skip
        source = file("return F.linear(x, self.f.weight * self.mask, self.f.bias)", "return [torch.randn(16, 48)]", init)
        reply = self.described(source)
        self.assertEqual(self.tensors(reply)["mask"]["dtype"], "bool")
        self.assertEqual(self.tensors(reply)["f_weight"]["generator"]["kind"], "normal")
        self.assertEqual(self.passing(reply), [])

    def test_what_the_constructor_computes_stays(self):
        init = 'self.register_buffer("mask", torch.ones(12, 12).tril())'
        reply = self.described(file("return x * self.mask", "return [torch.randn(16, 12, 12)]", init))
        self.assertEqual([tensor["role"] for tensor in reply["tensors"]], ["input", "output"])

    def test_groups_of_an_input(self):
        forward = """q = torch.stack((packed & 15, packed >> 4), -1).flatten(1).to(torch.int32)
g = q.shape[1] // scales.shape[1]
w = (q.view(q.shape[0], -1, g) - zeros.to(torch.int32).unsqueeze(-1)).to(torch.float16) * scales.unsqueeze(-1)
return x @ w.flatten(1).t()"""
        inputs = """n, k, g = 64, 256, 32
    return [torch.randn(1, k, dtype=torch.float16), torch.randint(0, 256, (n, k // 2), dtype=torch.uint8),
            torch.rand(n, k // g, dtype=torch.float16) * 0.01 + 0.002,
            torch.randint(0, 16, (n, k // g), dtype=torch.uint8)]"""
        reply = self.described(file(forward, inputs, arguments="self, x, packed, scales, zeros"))
        self.assertNotIn("g", self.axes(reply))
        self.assertEqual(self.passing(reply), [])


class FormsTest(ImportCase):
    def names(self, reply):
        return [tensor["name"] for tensor in reply["tensors"]]

    def test_lists_and_dicts_of_tensors(self):
        cases = [
            ("self, xs", "sum(xs)", "[[torch.randn(8, 12), torch.randn(8, 12)]]", ["xs_0", "xs_1", "out"]),
            ("self, x, kv", "x @ kv[0].t() @ kv[1]", "[torch.randn(8, 12), (torch.randn(20, 12), torch.randn(20, 12))]",
             ["x", "kv_0", "kv_1", "out"]),
            ("self, x, state", "x * state['h'] + state['c'] * 2",
             "[torch.randn(8, 12), {'h': torch.randn(8, 12), 'c': torch.randn(8, 12)}]", ["x", "state_h", "state_c", "out"]),
            ("self, x, caches", "x + caches[0]['k'] * caches[1]['v'] * caches[2]",
             "[torch.randn(8, 12), [{'k': torch.randn(8, 12)}, {'v': torch.randn(8, 12)}, 3]]",
             ["x", "caches_0_k", "caches_1_v", "out"]),
            ("self, x, pairs", "sum(a @ b for a, b in pairs) + x",
             "[torch.randn(8, 12), [(torch.randn(8, 6), torch.randn(6, 12)), [torch.randn(8, 4), torch.randn(4, 12)]]]",
             ["x", "pairs_0_0", "pairs_0_1", "pairs_1_0", "pairs_1_1", "out"]),
        ]  # fmt: skip
        for arguments, result, inputs, names in cases:
            reply = self.described(file(f"return {result}", f"return {inputs}", arguments=arguments))
            self.assertEqual(self.names(reply), names)
            self.assertEqual(self.passing(reply), [])

    def test_arguments_by_name(self):
        for inputs in ("{'x': torch.randn(8, 12), 'scale': torch.randn(12)}", "[torch.randn(8, 12), {'scale': torch.randn(12)}]",
                       "[torch.randn(8, 12), {'scale': torch.randn(12), 'factor': 2.0}]"):  # fmt: skip
            for arguments in ("self, x, scale, factor=3", "self, x, *, scale, factor=3"):
                reply = self.described(file("return x * scale * factor", f"return {inputs}", arguments=arguments))
                self.assertEqual(self.names(reply), ["x", "scale", "out"])
        reply = self.described(file("return x * more['scale']", "return [torch.randn(8, 12), {'scale': torch.randn(12)}]",
                                    arguments="self, x, **more"))  # fmt: skip
        self.assertEqual(self.names(reply), ["x", "scale", "out"])

    def test_a_computed_leaf(self):
        reply = self.described(file("return x @ kv['k'].t()", "return [torch.randn(8, 12), {'k': torch.randn(12, 12).tril()}]",
                                    arguments="self, x, kv"))  # fmt: skip
        self.assertIn("computed input: kv_k", reply["flags"])

    def test_nested_outputs(self):
        cases = {
            "x * 2, (x + 1, x.sum(1))": ["out_0", "out_1_0", "out_1_1"],
            "{'y': x * 2, 'mean': x.mean(1)}": ["y", "mean"],
            "[x * 2]": ["out"],
            "x * 2, None, {'h': x + 1}": ["out_0", "out_2_h"],
            "{'x': x * 2}": ["x_"],
        }
        for result, names in cases.items():
            reply = self.described(file(f"return {result}", "return [torch.randn(8, 12)]"))
            self.assertEqual([t["name"] for t in reply["tensors"] if t["role"] == "output"], names)

    def test_arguments_of_the_constructor(self):
        for given in ("{'wide': 12, 'bias': False}", "[[12], {'bias': False}]", "[12, {'bias': False}]", "dict(wide=12, bias=False)",
                      "[(), {'wide': 12, 'bias': False}]"):  # fmt: skip
            source = file("return self.f(x)", "return [torch.randn(8, 12)]", "self.f = nn.Linear(wide, 10, bias=bias)",
                          constructor="self, wide, bias=True", init_inputs=given)  # fmt: skip
            reply = self.described(source)
            self.assertEqual(self.names(reply), ["x", "f_weight", "out"])
            self.assertEqual(self.shape_of(reply, "f_weight"), [10, "wide"])

    def test_times_of_nested_arguments(self):
        source = file("return kv['k'] * x", "return [torch.randn(4, 5), {'k': torch.randn(4, 5)}]", arguments="self, x, kv")
        x = torch.randn(4, 5)
        sampling = {"warmup": 1, "min_samples": 3, "max_samples": 3, "budget_ns": 10**9}
        request = self.child.request(source, [x, x], [x], do="time", names=["eager"], sampling=sampling)
        self.assertEqual([len(t) for t in self.child.say(request)["times_ns"]], [3])


class FilesTest(ImportCase):
    def test_a_mark_at_the_start(self):
        source = file("return x * 2", "return [torch.randn(8, 12)]")
        self.assertEqual(list(self.axes(self.described("\ufeff" + source))), ["rows", "cols"])

    def test_complex_tensors_are_refused_with_advice(self):
        cases = {
            file("return x.abs()", "return [torch.randn(8, 12, dtype=torch.complex64)]"): "torch.view_as_complex(x)",
            file("return torch.fft.fft(x)", "return [torch.randn(8, 12)]"): "torch.view_as_real(out)",
            file("return (x * self.w).abs()", "return [torch.randn(8, 12)]",
                 "self.w = nn.Parameter(torch.randn(12, dtype=torch.complex64))"): "torch.view_as_real(w)",
        }  # fmt: skip
        for source, advice in cases.items():
            self.assertIn(advice, self.describe(source)["refused"])

    def test_complex_numbers_within_a_module(self):
        forward = "return torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(y))"
        inputs = "return [torch.randn(8, 12, 2), torch.randn(8, 12, 2)]"
        self.described(file(forward, inputs, arguments="self, x, y"))

    @unittest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_a_gpu_that_the_file_names(self):
        for maker in ("torch.randn(8, 12).cuda()", "torch.randn(8, 12, device='cuda')", "torch.randn(8, 12).to('cuda:0')",
                      "torch.randn(8, 12, device=torch.device('cuda'))"):  # fmt: skip
            self.described(file("return x * 2", f"return [{maker}]"))
        source = file("return self.f(x)", "return [torch.randn(8, 12).cuda()]", "self.f = nn.Linear(12, 10).cuda()")
        self.described(source)

    def test_inputs_that_are_huge_or_print(self):
        source = file("return x * 2", "print('inputs')\n    return [torch.randn(1 << 20, 1 << 14)]")
        self.assertIn("scaled", self.described(source)["flags"])


if __name__ == "__main__":
    unittest.main()
