"""python_for_bench.py answers as PyTorch does. scripts/test-torch.sh runs this."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "evaluators", "torch"))

from child_for_tests import ChildCase, torch  # skips where there is no PyTorch

import python_for_bench as stand_in


def source_of(path):
    with open(os.path.join(HERE, "suite", path, "reference.py"), encoding="utf-8") as file:
        return file.read()


class StandIn(ChildCase):
    def expect_same(self, path, x, y_shape, state=None):
        source = source_of(path)
        [(expected, scale)] = self.good(source, [x], [torch.empty(y_shape)], state=state, mode="train")
        inputs = [t.double().flatten().tolist() for t in [x, *(state or {}).values()]]
        y, size = getattr(stand_in, stand_in.module_of(source))(*inputs, *x.shape)
        self.assertLess(float((torch.tensor(y, dtype=torch.float64) - expected.flatten()).abs().max()), 1e-12)
        mine = torch.tensor(stand_in.magnitudes(size), dtype=torch.float64)
        ratio = float(mine.pow(2).mean().sqrt() / scale.pow(2).mean().sqrt())
        self.assertTrue(0.7 < ratio < 1.4, f"{path}: the magnitude is {ratio} of the real one")

    def test_all_modules(self):
        self.expect_same("level1/1_ShiftedReLU", torch.randn(47, 89), (47, 89))
        self.expect_same("level1/2_RowSoftmax", torch.randn(31, 89), (31, 89))
        state = {"linear.weight": torch.randn(40, 24) * 0.2, "linear.bias": torch.randn(40) * 0.2}
        self.expect_same("level2/1_MatmulBias", torch.randn(31, 24), (31, 40), state)
        self.expect_same("level2/2_MaxMinusItsMean", torch.randn(37, 61), (37, 1))


if __name__ == "__main__":
    unittest.main()
