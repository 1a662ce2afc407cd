"""Tests of definitions: page tables, sizes from workloads, and what the child says of them."""

import json
import unittest

from child_for_tests import ChildCase
import torch

import tables
from definition import Definition, Sizes
from survey import Refused

ATTENTION = '''
import math
import torch

@torch.no_grad()
def run(q, cache, kv_indptr, kv_indices, sm_scale):
    output = torch.zeros(q.shape, dtype=torch.bfloat16)
    lse = torch.full((q.shape[0],), -float("inf"), dtype=torch.float32)
    for b in range(q.shape[0]):
        pages = kv_indices[int(kv_indptr[b]) : int(kv_indptr[b + 1])].to(torch.long)
        keys = cache[pages].to(torch.float32)
        logits = keys @ q[b].to(torch.float32) * sm_scale
        lse[b] = torch.logsumexp(logits, -1) / math.log(2.0)
        output[b] = (torch.softmax(logits, -1) @ keys).to(torch.bfloat16)
    return {"output": output, "lse": lse}
'''


def tensor(shape, dtype="bfloat16"):
    return {"shape": shape, "dtype": dtype}


def attention(**fields):
    return {
        "name": "decode_d16", "op_type": "gqa_paged", "reference": ATTENTION,
        "axes": {
            "batch_size": {"type": "var"}, "num_pages": {"type": "var"}, "len_indptr": {"type": "var"},
            "num_kv_indices": {"type": "var"}, "head_dim": {"type": "const", "value": 16},
        },
        "constraints": ["len_indptr == batch_size + 1", "num_kv_indices == kv_indptr[-1].item()"],
        "inputs": {
            "q": tensor(["batch_size", "head_dim"]), "cache": tensor(["num_pages", "head_dim"]),
            "kv_indptr": tensor(["len_indptr"], "int32"),
            "kv_indices": tensor(["num_kv_indices"], "int32"), "sm_scale": tensor(None, "float32"),
        },
        "outputs": {"output": tensor(["batch_size", "head_dim"]), "lse": tensor(["batch_size"], "float32")},
        **fields,
    }  # fmt: skip


def workload(batch, pages, used):
    axes = {"batch_size": batch, "num_pages": pages, "num_kv_indices": used}
    return {"axes": axes, "inputs": {"sm_scale": {"type": "scalar", "value": 0.25}}}


class TablesTest(unittest.TestCase):
    specs = [
        {"name": "qo_indptr", "shape": [5]}, {"name": "kv_indptr", "shape": [5]},
        {"name": "kv_indices", "shape": [12]}, {"name": "kv_last_page_len", "shape": [4]},
    ]  # fmt: skip
    axes = {"total_q": 30, "num_kv_indices": 12, "num_pages": 40, "page_size": 4}

    def test_tables_fit_each_other(self):
        for seed in range(50):
            built = tables.build(self.specs, self.axes, seed)
            queries, pages = built["qo_indptr"].diff(), built["kv_indptr"].diff()
            last = built["kv_last_page_len"]
            self.assertEqual((int(built["qo_indptr"][0]), int(built["qo_indptr"][-1])), (0, 30))
            self.assertEqual((int(built["kv_indptr"][0]), int(built["kv_indptr"][-1])), (0, 12))
            self.assertTrue(bool((queries >= 1).all() and (pages >= 1).all()))
            self.assertTrue(bool(((last >= 1) & (last <= 4)).all()))
            self.assertTrue(bool((((pages - 1) * 4 + last) >= queries).all()), "a causal mask")
            self.assertEqual(len(set(built["kv_indices"].tolist())), 12)
            self.assertLess(int(built["kv_indices"].max()), 40)

    def test_a_seed_gives_the_same_tables_and_another_seed_others(self):
        one, same, other = (tables.build(self.specs, self.axes, seed) for seed in (1, 1, 2))
        self.assertTrue(all(torch.equal(one[name], same[name]) for name in one))
        self.assertFalse(all(torch.equal(one[name], other[name]) for name in one))

    def test_says_what_cannot_be_divided(self):
        with self.assertRaisesRegex(ValueError, "3 cannot be divided into 4 parts"):
            tables.build(self.specs[:1], {"total_q": 3}, 1)
        with self.assertRaisesRegex(ValueError, "no rule builds the input 'routes'"):
            tables.build([{"name": "routes", "shape": [4]}], {}, 1)


class SizesTest(unittest.TestCase):
    def sizes(self, workloads, limit=1 << 20):
        return Sizes(Definition(attention()), workloads, limit, lambda axes: True)

    def test_every_third_workload_is_hidden_and_primes_come_on_top(self):
        sizes = self.sizes([workload(n, 10 * n, 8 * n) for n in (4, 8, 12)])
        self.assertEqual([row["batch_size"] for row in sizes.search], [4, 8])
        hidden = sizes.promotion + sizes.held_out
        self.assertEqual([row["batch_size"] for row in hidden], [11, 2, 12, 3])
        self.assertEqual((hidden[0]["num_pages"], hidden[0]["len_indptr"]), (113, 12))

    def test_workloads_that_are_too_large_are_left_out(self):
        sizes = self.sizes([workload(4, 40, 32), workload(4, 40000, 32)])
        self.assertEqual([row["num_pages"] for row in sizes.search], [40])
        self.assertEqual(sizes.flags, ["scaled"])

    def test_a_constraint_that_does_not_hold_is_no_size(self):
        odd = Definition(attention(constraints=["num_pages >= num_kv_indices"]))
        with self.assertRaisesRegex(Refused, "the constraint num_pages >= num_kv_indices does not hold"):
            Sizes(odd, [workload(2, 4, 8)], 1 << 20, lambda axes: True)


class DescribeTest(ChildCase):
    def describe(self, fields, workloads=()):
        reply = self.child.say(
            {"do": "definition", "definition": json.dumps(fields), "memory_bytes": 16 << 20,
             "workloads": [json.dumps(w) for w in workloads]}
        )  # fmt: skip
        self.assertIsNone(reply["error"])
        return reply

    def test_describes_attention_with_page_tables(self):
        reply = self.describe(attention(), [workload(n, 8 * n, 6 * n) for n in (4, 8, 12)])
        self.assertEqual(reply["refused"], "")
        kinds = {t["name"]: t.get("generator", {}).get("kind") for t in reply["tensors"]}
        self.assertEqual(kinds, {"q": "normal", "cache": "normal", "kv_indptr": "reference",
                                 "kv_indices": "reference", "output": None, "lse": None})  # fmt: skip
        self.assertEqual(reply["scalars"][0]["value"], 0.25)
        self.assertIn("page numbers", reply["tensors"][3]["description"])
        self.assertEqual(reply["tolerance"]["accumulate"], "bf16", "there are two products")
        self.assertIn("min(num_pages, num_kv_indices)", reply["work"]["bytes"])
        self.assertEqual([f for f in reply["flags"] if f.startswith("passes")], [])

    def test_answers_as_the_reference_does(self):
        axes = {"batch_size": 3, "num_pages": 9, "len_indptr": 4, "num_kv_indices": 8, "head_dim": 16}
        q, cache = torch.randn(3, 16).bfloat16(), torch.randn(9, 16).bfloat16()
        built = tables.build(
            [{"name": "kv_indptr", "shape": [4]}, {"name": "kv_indices", "shape": [8]}], axes, 5
        )
        arguments = [q, cache, built["kv_indptr"].int(), built["kv_indices"].int()]
        outputs = [torch.empty(3, 16, dtype=torch.bfloat16), torch.empty(3)]
        (y, _), (lse, _) = self.good(
            ATTENTION, arguments, outputs, axes=axes, scalars=[0.25], scalar_names=["sm_scale"],
            accumulate="bf16",
        )  # fmt: skip
        first, end = int(built["kv_indptr"][0]), int(built["kv_indptr"][1])
        keys = cache[built["kv_indices"][first:end]].double()
        logits = keys @ q[0].double() * 0.25
        self.assertTrue(torch.allclose(y[0], torch.softmax(logits, -1) @ keys, atol=1e-9))
        self.assertTrue(torch.allclose(lse[0], torch.logsumexp(logits, -1) / 0.6931471805599453))

    def test_says_why_there_is_no_task(self):
        for fields, why in [
            ({"op_type": "sampling"}, "op type sampling: its output is random"),
            ({"reference": "x = 1\n"}, "its reference has no function run()"),
            ({"outputs": {}}, "the definition has no 'outputs'"),
            ({"inputs": {"t": tensor(["num_pages"], "int32")}}, "no rule of op type gqa_paged builds the input 't'"),
            ({"outputs": {"y": tensor(["batch_size"])}}, "run() returns 2 tensors, and the definition has 1"),
        ]:  # fmt: skip
            self.assertIn(why, self.describe(attention(**fields), [workload(2, 8, 4)])["refused"])


if __name__ == "__main__":
    unittest.main()
