"""Starts the real child over a memory file, for tests."""

import json
import mmap
import os
import subprocess
import sys

import torch

from knobs import knobs_of
from tensors import Memory, elements, task_dtype

HERE = os.path.dirname(os.path.abspath(__file__))
ALIGNMENT = 256


class ChildForTests:
    def __init__(self, device="cpu"):
        self.file = os.memfd_create("tensors")
        os.ftruncate(self.file, mmap.PAGESIZE)
        environment = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "torch_child.py"), device],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, close_fds=False,
            env=environment, preexec_fn=self.place_file,
        )  # fmt: skip
        self.first_line = json.loads(self.process.stdout.readline())

    def place_file(self):
        os.dup2(self.file, 3)
        os.set_inheritable(3, True)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        os.close(self.file)

    def say(self, request):
        return self.say_text(json.dumps(request))

    def say_text(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def layout(self, tensors):
        """[(tensor, offset)], with the memory file as large as they need."""
        offset, placed = 0, []
        for tensor in tensors:
            placed.append(offset)
            size = tensor.numel() * tensor.element_size()
            offset += -(-size // ALIGNMENT) * ALIGNMENT
        os.ftruncate(self.file, offset + ALIGNMENT)
        return placed

    def request(self, source, arguments, outputs, state=None, **fields):
        """A request with its inputs in the memory file; `outputs` are tensors of the right form."""
        state = state or {}
        inputs = [(f"in_{i}", "", t) for i, t in enumerate(arguments)]
        inputs += [(name.replace(".", "_"), name, t) for name, t in state.items()]
        doubles = [torch.empty(y.shape, dtype=torch.float64) for y in outputs for _ in range(2)]
        offsets = self.layout([t for _, _, t in inputs] + doubles)
        memory = Memory(self.file)
        request = {
            "do": "answer", "source": source, "mode": "eval", "axes": fields.get("axes") or knobs_of(source),
            "scalars": [], "seed": 1, "accumulate": "f32", "inputs": [], "outputs": [],
        }  # fmt: skip
        for (name, key, tensor), offset in zip(inputs, offsets):
            memory.view(offset, tensor.dtype, list(tensor.shape)).copy_(tensor)
            request["inputs"].append(
                {"name": name, "dtype": task_dtype(tensor.dtype), "shape": list(tensor.shape),
                 "offset": offset, "bytes": tensor.numel() * tensor.element_size(), "state": key,
                 "inout": False}
            )  # fmt: skip
        free = offsets[len(inputs) :]
        for i, y in enumerate(outputs):
            request["outputs"].append(
                {"name": f"out_{i}", "dtype": task_dtype(y.dtype), "shape": list(y.shape),
                 "offset": free[2 * i], "magnitude_offset": free[2 * i + 1]}
            )  # fmt: skip
        request.update(fields)
        return request

    def answer(self, *arguments, **fields):
        """The reply, and for each output what the child wrote: y and its magnitude."""
        request = self.request(*arguments, **fields)
        reply = self.say(request)
        memory = Memory(self.file)
        found = []
        for output, form in zip(request["outputs"], arguments[2]):
            dtype = torch.float64 if form.is_floating_point() else form.dtype
            shape = output["shape"]
            y = memory.view(output["offset"], dtype, shape).clone()
            scale = memory.view(output["magnitude_offset"], torch.float64, shape).clone()
            found.append((y, scale))
        return reply, found


def units(got, y, scale, accumulate=2.0**-23, rounding=2.0**-24):
    """(largest, rms): errors beyond the output's own rounding, as the judge counts them."""
    error = ((got.double() - y).abs() - rounding * y.abs()).clamp(min=0)
    quotient = error / (accumulate * scale).clamp(min=1e-300)
    return float(quotient.max()), float(quotient.pow(2).mean().sqrt())
