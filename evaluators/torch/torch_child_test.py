"""Tests of answers and times: the real child over a memory file, at small sizes."""

import unittest

from child_for_tests import DEVICE, NETWORK, ChildCase, accepts, module, network_state, reference
import torch

from tensors import Memory


def rounded(tensor, bits):
    """A float32 tensor with a mantissa of so many bits."""
    step = 1 << (23 - bits)
    whole = tensor.contiguous().view(torch.int32)
    return ((whole + step // 2) & ~(step - 1)).view(torch.float32)


class AnswerTest(ChildCase):
    def test_first_line(self):
        self.assertEqual(self.child.first_line["torch"], torch.__version__)
        if DEVICE == "cpu":
            self.assertEqual(self.child.first_line["device"], "cpu")

    def test_row_softmax(self):
        source = reference("reduction/row_softmax")
        x = torch.randn(37, 509) * 2
        axes = {"rows": 37, "cols": 509}
        [(y, scale)] = self.good(source, [x], [x], axes=axes)
        there = torch.softmax(x.double().to(DEVICE), 1).cpu()  # devices add up in different orders
        self.assertTrue(torch.equal(y, there))
        self.assertTrue(accepts(torch.softmax(x, 1), y, scale))
        for wrong in (torch.zeros_like(x), torch.softmax(torch.randn(37, 509), 1),
                      torch.softmax(rounded(x, 10), 1), torch.softmax(rounded(x, 7), 1)):
            self.assertFalse(accepts(wrong, y, scale))

    def test_matrix_product(self):
        source = reference("blas/gemm_f16")
        a, b = torch.randn(33, 200).half(), (torch.rand(200, 65) * 2 - 1).half()
        form = torch.empty(33, 65, dtype=torch.float16)
        axes = {"m": 33, "n": 65, "k": 200}
        [(y, scale)] = self.good(source, [a, b], [form], axes=axes)
        torch.testing.assert_close(y, a.double() @ b.double(), rtol=1e-14, atol=1e-12)
        self.assertTrue(accepts(a.float() @ b.float(), y, scale))
        coarse = (a.float().bfloat16().float() @ b.float().bfloat16().float())
        for wrong in (torch.zeros(33, 65), b.float().t().contiguous()[:33, :65] @ b.float()[:65],
                      coarse):
            self.assertFalse(accepts(wrong, y, scale))

    def test_operands_in_tf32(self):
        source = reference("blas/gemm_f16").replace(".to(torch.float16)", "")
        a, b = torch.randn(40, 300), torch.randn(300, 50)
        axes = {"m": 40, "n": 50, "k": 300}
        [(y, scale)] = self.good(source, [a, b], [torch.empty(40, 50)], axes=axes)
        self.assertTrue(accepts(a @ b, y, scale))
        for bits in (10, 7):
            self.assertFalse(accepts(rounded(a, bits) @ rounded(b, bits), y, scale))

    def test_mutants(self):
        source = reference("blas/gemm_f16").replace(".to(torch.float16)", "")
        a, b = torch.randn(40, 300), torch.randn(300, 50)
        axes = {"m": 40, "n": 50, "k": 300}
        request = self.child.request(source, [a, b], [torch.empty(40, 50)], axes=axes, do="mutant")
        there_a, there_b = a.to(DEVICE), b.to(DEVICE)  # devices add up in different orders
        right = there_a @ there_b
        wanted = {
            "own precision": right, "batch mean": right.mean(0, keepdim=True).expand(40, 50),
            "operands in tf32": rounded(there_a, 10) @ rounded(there_b, 10),
        }  # fmt: skip
        for name, expected in wanted.items():
            reply = self.child.say({**request, "mutant": name})
            self.assertEqual((reply["error"], reply["applies"]), (None, True))
            offset = request["outputs"][0]["offset"]
            torch.testing.assert_close(
                Memory(self.child.file).view(offset, torch.float32, [40, 50]), expected.cpu()
            )

    def test_parameters_in_train_mode(self):
        state, x = network_state(), torch.randn(16, 48)
        [(y, scale)] = self.good(
            NETWORK, [x], [torch.empty(16, 40)], state=state, mode="train"
        )

        def network(dtype, x):
            s = {name: t.to(dtype) for name, t in state.items()}
            h = torch.nn.functional.linear(x.to(dtype), s["linear.weight"], s["linear.bias"])
            h = torch.nn.functional.batch_norm(
                h, None, None, s["norm.weight"], s["norm.bias"], training=True
            )
            return torch.relu(h)

        torch.testing.assert_close(y, network(torch.float64, x), rtol=1e-12, atol=1e-12)
        self.assertTrue(accepts(network(torch.float32, x), y, scale))
        self.assertFalse(accepts(network(torch.float32, torch.randn(16, 48)), y, scale))

    def test_buffers_in_eval_mode(self):
        state, x = network_state(), torch.randn(16, 48)
        state["norm.running_mean"] = torch.full((40,), 0.5)
        state["norm.running_var"] = torch.full((40,), 4.0)
        [(y, _)] = self.good(NETWORK, [x], [torch.empty(16, 40)], state=state)
        linear = x.double() @ state["linear.weight"].double().t() + state["linear.bias"].double()
        expected = (linear - 0.5) / (4 + 1e-5) ** 0.5
        expected = expected * state["norm.weight"].double() + state["norm.bias"].double()
        torch.testing.assert_close(y, expected.clamp(min=0), rtol=1e-12, atol=1e-12)

    def test_knobs_and_what_follows_from_them(self):
        source = NETWORK.replace("features = 2 * 24", "width = 24\nfeatures = 2 * width")
        axes = {"batch": 5, "size": 999, "width": 3, "classes": 7}
        state = network_state(7, 6)
        self.good(source, [torch.randn(5, 6)], [torch.empty(5, 7)], state=state, axes=axes)

    def test_the_same_request_gives_the_same_bits(self):
        state, x = network_state(), torch.randn(16, 48)
        fields = {"state": state, "mode": "train", "seed": 9}
        first = self.good(NETWORK, [x], [torch.empty(16, 40)], **fields)
        self.good(reference("reduction/row_softmax"), [x], [x], axes={"rows": 16, "cols": 48})
        second = self.good(NETWORK, [x], [torch.empty(16, 40)], **fields)
        for one, two in zip(first[0], second[0]):
            self.assertTrue(torch.equal(one, two))

    def test_scalars(self):
        x = torch.randn(9, 11)
        [(y, _)] = self.good(
            reference("stencil/stencil2d"), [x], [x], axes={"h": 9, "w": 11}, scalars=[2.0, 0.0]
        )
        self.assertTrue(torch.equal(y, 2 * x.double()))
        error = self.bad(reference("stencil/stencil2d"), [x], [x], scalars=[2.0])
        self.assertIn("the task has 1 scalars", error)

    def test_copies_have_no_error(self):
        x = torch.randn(4, 5)
        [(y, scale)] = self.good(module("return x.t().float()"), [x], [x.t().contiguous()])
        self.assertTrue(torch.equal(y, x.t().double()))
        self.assertEqual(float(scale.abs().max()), 0)

    def test_integer_outputs(self):
        x = torch.randn(4, 5)
        body = "return torch.argmax(x, 1), x > 0, x.half() + 1"
        forms = [torch.empty(4, dtype=torch.int64), torch.empty(4, 5, dtype=torch.bool), x]
        found = self.good(module(body), [x], forms)
        self.assertTrue(torch.equal(found[0][0], x.argmax(1)))
        self.assertTrue(torch.equal(found[1][0], x > 0))
        self.assertTrue(torch.equal(found[2][0], x.double() + 1))

    def test_integers_need_no_precision(self):
        x = torch.randn(4, 5)
        form = torch.empty(4, dtype=torch.int64)
        self.good(module("return x.argmin(1)"), [x], [form], accumulate="int")
        error = self.bad(module("return x * 2"), [x], [x], accumulate="int")
        self.assertIn("no error scale for accumulate", error)

    def test_magnitudes_are_in_units_of_the_accumulate_precision(self):
        x, scales = torch.randn(64, 64), {}
        for accumulate in ("f64", "f32", "f16", "bf16"):
            [(_, scale)] = self.good(module("return x * 3"), [x], [x], accumulate=accumulate)
            scales[accumulate] = float((scale / x.abs()).median())
        for scale in scales.values():  # uniform in (-epsilon / 2, epsilon / 2)
            self.assertAlmostEqual(scale, 3 / 12**0.5, delta=0.3)

    def test_an_output_without_dimensions(self):
        x = torch.randn(4, 5)
        [(y, scale)] = self.good(module("return x.sum()"), [x], [torch.empty(())])
        torch.testing.assert_close(y, x.double().sum())
        self.assertGreater(float(scale), 0)

    def test_forward_may_change_its_arguments(self):
        x = torch.randn(4, 5)
        [(y, _)] = self.good(module("return x.mul_(2).add_(1)"), [x], [x])
        self.assertTrue(torch.equal(y, 2 * x.double() + 1))

    def test_inputs_that_the_module_computes(self):
        source = module("return x").replace("torch.rand(4, 5)", "torch.rand(4, 5).tril()")
        request = self.child.request(source, [], [torch.empty(6, 5)], do="inputs", seed=4)
        request["axes"] = {"size_0": 6}
        request["inputs"] = [dict(request["outputs"][0], index=0)]
        self.assertIsNone(self.child.say(request)["error"])
        x = Memory(self.child.file).view(request["outputs"][0]["offset"], torch.float32, [6, 5])
        self.assertTrue(torch.equal(x, x.tril()))
        self.assertLess(float(x.min()), 0)

    def test_a_part_of_an_answer(self):
        x = torch.randn(4, 5)
        request = self.child.request(module("return x * 2"), [x], [x])
        request["outputs"][0]["pieces"] = [[1, 3], [17, 2]]
        self.assertIsNone(self.child.say(request)["error"])
        memory = Memory(self.child.file)
        for key in ("offset", "magnitude_offset"):
            part = memory.view(request["outputs"][0][key], torch.float64, [5])
            self.assertTrue(part.ne(0).all(), key)
        there = memory.view(request["outputs"][0]["offset"], torch.float64, [5])
        flat = 2 * x.double().reshape(-1)
        self.assertTrue(torch.equal(there, torch.cat([flat[1:4], flat[17:19]])))

    def test_times(self):
        x = torch.randn(4, 5)
        sampling = {"warmup": 1, "min_samples": 3, "max_samples": 3, "budget_ns": 10**9}
        request = self.child.request(
            module("return x.float().mul_(2)"), [x], [x], do="time", names=["eager", "eager"],
            sampling=sampling,
        )  # fmt: skip
        reply = self.child.say(request)
        self.assertIsNone(reply["error"])
        self.assertEqual([len(times) for times in reply["times_ns"]], [3, 3])
        self.assertEqual(reply["errors"], [None, None])

    def alternative(self, name, source, x, expected, state=None):
        """The error, and the output."""
        request = self.child.request(source, [x], [expected], state=state or {}, do="alternative", name=name)
        reply = self.child.say(request)
        offset = request["outputs"][0]["offset"]
        y = Memory(self.child.file).view(offset, torch.float32, list(expected.shape)).clone()
        return reply["error"], y

    def test_images_may_have_their_channels_last(self):
        source = module("return self.conv(x)").replace(
            "    def forward", "    def __init__(self):\n        super().__init__()\n"
            "        self.conv = nn.Conv2d(3, 5, 3)\n\n    def forward",
        )  # fmt: skip
        x, state = torch.randn(2, 3, 8, 9), {"conv.weight": torch.randn(5, 3, 3, 3), "conv.bias": torch.randn(5)}
        y = torch.nn.functional.conv2d(x, *state.values())
        names = self.child.say(self.child.request(source, [x], [y], state=state, do="alternatives"))["names"]
        if DEVICE == "cpu":
            self.assertEqual([n for n in names if "compile" not in n], ["eager", "channels last"])
        for name in ("eager", "channels last", "eager"):
            error, got = self.alternative(name, source, x, y, state)
            self.assertIsNone(error)
            torch.testing.assert_close(got, y, rtol=1e-4, atol=1e-4)
        state["conv.weight"] *= -1  # the models that are kept get another state
        error, got = self.alternative("channels last", source, x, y, state)
        torch.testing.assert_close(got, 2 * state["conv.bias"].view(5, 1, 1) - y, rtol=1e-4, atol=1e-4)

    def test_an_alternative_that_fails_has_an_error(self):
        x, source = torch.randn(4, 5), module("return x * 2")
        self.assertIn("no way 'channels last'", self.alternative("channels last", source, x, x)[0])
        error, y = self.alternative("eager", source, x, x)
        self.assertIsNone(error)
        self.assertTrue(torch.equal(y, 2 * x))


if __name__ == "__main__":
    unittest.main()
