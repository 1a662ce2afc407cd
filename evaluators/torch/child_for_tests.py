"""Starts the real child over a memory file, for tests. WINNOW_TORCH_DEVICE names its device."""

import json
import mmap
import os
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

try:
    import torch
except ImportError as error:
    if sys.argv[0].endswith("_test.py"):
        print(f"skipped: {sys.executable} cannot import torch: {error}")
        sys.exit(77)
    raise unittest.SkipTest(f"no torch: {error}")

from knobs import knobs_of
from tensors import Memory, task_dtype

HERE = os.path.dirname(os.path.abspath(__file__))
CATALOGUE = os.path.join(HERE, "..", "..", "tasks", "catalogue")
DEVICE = os.environ.get("WINNOW_TORCH_DEVICE", "cpu")
ALIGNMENT = 256
LIMIT_MAX, LIMIT_RMS = 32, 4


NETWORK = '''
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.linear = nn.Linear(features, classes)
        self.norm = nn.BatchNorm1d(classes)

    def forward(self, x):
        return torch.relu(self.norm(self.linear(x)).float())

batch = size = 16
features = 2 * 24
classes = 40

def get_inputs():
    return [torch.rand(batch, features)]

def get_init_inputs():
    return [features, classes]
'''


def reference(task):
    with open(os.path.join(CATALOGUE, task, "reference.py"), encoding="utf-8") as file:
        return file.read()


def module(body):
    """A module whose forward has this body."""
    return (
        "import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n"
        "    def forward(self, x, *more):\n        " + body.replace("\n", "\n        ")
        + "\ndef get_inputs():\n    return [torch.rand(4, 5)]\n"
        "def get_init_inputs():\n    return []\n"
    )  # fmt: skip


def network_state(classes=40, features=48):
    return {
        "linear.weight": torch.randn(classes, features) * 0.2,
        "linear.bias": torch.randn(classes),
        "norm.weight": torch.rand(classes) + 0.5,
        "norm.bias": torch.randn(classes),
    }


class ChildForTests:
    def __init__(self, device=DEVICE):
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


def accepts(got, y, scale):
    largest, rms = units(got, y, scale)
    return largest <= LIMIT_MAX and rms <= LIMIT_RMS


class ChildCase(unittest.TestCase):
    """A test with a child of its own."""

    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        torch.manual_seed(3)
        cls.child = ChildForTests()

    @classmethod
    def tearDownClass(cls):
        cls.child.close()

    def good(self, *arguments, **fields):
        reply, found = self.child.answer(*arguments, **fields)
        self.assertIsNone(reply["error"])
        self.assertGreater(reply["seconds"], 0)
        return found

    def bad(self, *arguments, **fields):
        reply, _ = self.child.answer(*arguments, **fields)
        self.assertIsInstance(reply["error"], str)
        return reply["error"]
