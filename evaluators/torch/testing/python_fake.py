#!/usr/bin/env python3
"""A Python without PyTorch that answers as torch_child.py does, for the task row_softmax.

The source of a request decides: "raise" in it is an error, "exit" ends the process, "sleep" gives
no answer. A description is that of row_softmax, whatever the source. TORCH_IS_MISSING in the folder of this file stands for a Python without PyTorch.
"""

import json
import math
import mmap
import os
import random
import struct
import sys
import time


ALTERNATIVES = {"eager": 1e9, "compile": 5e8, "TF32": 1e8, "no compiler": 0}  # their times in ns
DESCRIPTION = {
    "error": None, "refused": "", "title": "Softmax", "operations": [1e6], "reproducible": True,
    "axes": [{"name": "rows", "value": 64, "fixed": False}, {"name": "cols", "value": 32, "fixed": True}],
    "tensors": [
        {"name": "x", "role": "input", "dtype": "f32", "shape": ["rows", "cols"],
         "generator": {"kind": "normal", "mean": [-2.0, 2.0], "std": [1.0, 4.0]}},
        {"name": "y", "role": "output", "dtype": "f32", "shape": ["rows", "cols"]},
    ],
    "shapes": {name: [{"rows": 8 + i, "cols": 32}] for i, name in
               enumerate(("tiny", "search", "promotion", "held_out"))},
    "tolerance": {"precision": "f32", "accumulate": "f32", "multiple": 32.0, "norm_multiple": 4.0},
    "flags": ["scaled"], "mutants": [{"name": "zeros", "passes": False, "passes_kernelbench_1e-2": True}],
}  # fmt: skip


def answer(request):
    source = request["source"]
    if "exit" in source:
        sys.exit(3)
    if "sleep" in source:
        time.sleep(3600)
    if "raise" in source:
        return {"error": "ValueError: the module says no"}
    if request["do"] == "describe":
        return DESCRIPTION
    memory = mmap.mmap(3, os.fstat(3).st_size)
    x = request["inputs"][0]
    rows, cols = x["shape"]
    if request["do"] == "alternatives":
        return {"error": None, "names": list(ALTERNATIVES)}
    if request["do"] == "time":
        if not any(memory[x["offset"] : x["offset"] + x["bytes"]]):
            return {"error": "the inputs are zeros"}
        samples = request["sampling"]["min_samples"]
        times = [[ALTERNATIVES[name]] * samples for name in request["names"]]
        return {"error": None, "times_ns": times, "errors": [None] * len(times)}
    if request["do"] == "inputs":
        random.seed(request["seed"])
        drawn = [random.gauss(0, 1) for _ in range(rows * cols)]
        struct.pack_into(f"<{rows * cols}f", memory, x["offset"], *drawn)
        return {"error": None, "seconds": 0}
    y = request["outputs"][0]
    scores = struct.unpack_from(f"<{rows * cols}f", memory, x["offset"])
    values, magnitudes = [], []
    for row in range(rows):
        part = scores[row * cols : (row + 1) * cols]
        largest = max(part)
        terms = [math.exp(score - largest) for score in part]
        total = math.fsum(terms)
        values.extend(term / total for term in terms)
        # As reference.cu of row_softmax: rounding score - largest moves the result in proportion to it.
        magnitudes.extend(t / total * (1 + largest - s) for t, s in zip(terms, part))
    if request["do"] == "mutant":
        wrong = {"own precision": 1, "half of the inputs": 1.01}.get(request["mutant"], 0)
        struct.pack_into(f"<{len(values)}f", memory, y["offset"], *[wrong * v for v in values])
        return {"error": None, "applies": wrong != 0}
    if request["do"] == "alternative":
        with open(os.path.join(os.environ["TMPDIR"], "ran"), "a") as file:  # as a compiler's cache
            file.write(request["name"] + "\n")
        if request["name"] == "no compiler":
            return {"error": "RuntimeError: there is no compiler"}
        coarse = 1.01 if request["name"] == "TF32" else 1
        struct.pack_into(f"<{len(values)}f", memory, y["offset"], *[coarse * v for v in values])
        return {"error": None}
    struct.pack_into(f"<{len(values)}d", memory, y["offset"], *values)
    struct.pack_into(f"<{len(values)}d", memory, y["magnitude_offset"], *magnitudes)
    return {"error": None, "seconds": 0}


def main():
    if sys.argv[1] == "-c":
        sys.executable = os.path.abspath(__file__)
        exec(sys.argv[2], {})
        return
    if os.path.exists(os.path.join(os.path.dirname(__file__), "TORCH_IS_MISSING")):
        print(json.dumps({"missing": "python3 cannot import torch"}), flush=True)
        return
    print(json.dumps({"torch": "0.0", "device": "cpu"}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


main()
