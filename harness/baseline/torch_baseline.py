"""Runs and times a task's reference.py, and the alternatives to it, with PyTorch: the child process
of `winnow baseline torch`.

    python3 torch_baseline.py DIRECTORY DEVICE

DIRECTORY holds reference.py (KernelBench's form), perhaps expert.py (alternatives, in the form of
docs/baselines.md), the inputs in_0.raw, in_1.raw, ... and perhaps other values of them,
other_0.raw, ..., and takes the outputs out_0.raw, ...: row-major elements, little-endian. DEVICE is
torch's: cpu, cuda:0. alternatives.py, tensors.py and timing.py of evaluators/torch lie beside this file.

It says what it is on a first line of stdout: {"torch": version, "device": name}, or why it cannot
work: {"missing": why}. The line has "no_compile", too, where this torch has no torch.compile: why.
Then each line of stdin is a request for one shape and gets one line. All requests have
  "inputs": [{"name", "dtype", "shape"}], "inouts": [indices of inputs], "outputs": [as inputs],
  "scalars": [numbers], "axes": {name: size}, "tf32": bool, and perhaps "float64": true: floating
  inputs are widened to float64, and floating outputs must be and are written as such; nothing but
  "eager" runs then. An integer of the module that has the name of an axis gets the size of the axis.
All answers have "error": null or a text. The requests differ in these fields:
  "mode": "alternatives"   answers {"names": [of expert.py], "none": why there is none}.
  "mode": a name, "sampling": null   runs it once and writes its outputs. The names are those of
     alternatives.py ("eager", "compile", ...) and those of expert.py.
  "modes": [names], "sampling": {"warmup", "min_samples", "max_samples", "budget_ns"}   answers
     {"times_ns": [[numbers] of each name], "errors": [null or a text of each name]}. They take turns.
     Each launch has other values than the one before, where other_*.raw are there.
stdout is for these lines only: whatever else prints goes to stderr.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import sys

MAX_ERROR_CHARACTERS = 2000
EAGER = "eager"


def load_file(directory, name):
    """The module in a file of the directory; None where there is no such file."""
    path = os.path.join(directory, name + ".py")
    if not os.path.exists(path):
        return None
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class PlainProducts:
    """torch's products of 8-bit matrices as they are documented: of doubles, of any size."""

    def __init__(self, torch):
        self.torch = torch

        def scaled_mm(a, b, scale_a, scale_b, **ignored):
            return a.double() @ b.double() * (scale_a.double() * scale_b.double())

        def int_mm(a, b):
            return (a.long() @ b.long()).int()

        plain = {"_scaled_mm": scaled_mm, "_int_mm": int_mm}
        self.plain = {name: product for name, product in plain.items() if hasattr(torch, name)}

    def __enter__(self):
        self.kept = {name: getattr(self.torch, name) for name in self.plain}
        for name, product in self.plain.items():
            setattr(self.torch, name, product)

    def __exit__(self, *ignored):
        for name, product in self.kept.items():
            setattr(self.torch, name, product)


class Shape:
    """What can run at one shape: functions of forward's inputs, by name."""

    def __init__(self, runner, request):
        self.torch, self.runner, self.request = runner.torch, runner, request
        self.float64 = request.get("float64", False)
        self.sets = [s for s in (self.load("in"), self.load("other")) if s]
        self.originals = [{i: s[i].clone() for i in request["inouts"]} for s in self.sets]
        self.turn = 0
        self.model = runner.model(request)
        self.ways = runner.alternatives.Alternatives(self.model, runner.device)
        self.own = {}  # of expert.py

    def load(self, prefix):
        """The inputs from files PREFIX_0.raw, ...; None where these files are not there."""
        tensors = []
        for index, spec in enumerate(self.request["inputs"]):
            path = os.path.join(self.runner.directory, f"{prefix}_{index}.raw")
            if not os.path.exists(path):
                return None
            tensor = self.runner.tensors.from_file(path, spec, self.runner.device)
            tensors.append(self.runner.tensors.widened(tensor) if self.float64 else tensor)
        return tensors

    def alternatives(self):
        expert = self.runner.expert
        if hasattr(expert, "NONE"):
            return {"names": [], "none": str(expert.NONE)}
        with self.torch.no_grad():
            found = expert.alternatives(self.model, *self.sets[0])
        for name, function in found.items():
            if not isinstance(name, str) or name in self.ways.names() or not callable(function):
                raise ValueError(f"alternatives() of expert.py: {name!r} is no new name of a function")
        self.own.update(found)
        return {"names": list(found), "none": ""}

    def function(self, name):
        if self.float64 and name != EAGER:
            raise ValueError(f"{name!r} does not run in float64")
        if name in self.ways.names():
            return self.ways.function(name)
        if name not in self.own:  # the shape was opened again
            self.alternatives()
        return self.own[name]

    def restore(self):
        """The inputs of the next launch, as they were."""
        self.turn = (self.turn + 1) % len(self.sets)
        for i, original in self.originals[self.turn].items():
            self.sets[self.turn][i].copy_(original)

    def run(self, name):
        self.turn = len(self.sets) - 1
        self.restore()  # the first set, which the reference gets
        function = self.function(name)
        products = PlainProducts(self.torch) if self.float64 else contextlib.nullcontext()
        with products, self.torch.no_grad():
            results = function(*self.sets[self.turn])
        results = self.runner.tensors.as_list(results)
        outputs = self.request["outputs"]
        if len(results) != len(outputs):
            raise ValueError(f"{len(results)} tensors come back, but the task has {len(outputs)} outputs")
        for i, (expected, tensor) in enumerate(zip(outputs, results)):
            self.save(i, expected, tensor)
        return {}

    def save(self, index, expected, tensor):
        torch = self.torch
        self.runner.tensors.check(expected, tensor, self.float64)
        data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).cpu()
        path = os.path.join(self.runner.directory, f"out_{index}.raw")
        with open(path, "wb") as file:
            file.truncate(data.numel())
        torch.from_file(path, shared=True, size=data.numel(), dtype=torch.uint8).copy_(data)

    def time(self, names, sampling):
        timing, device = self.runner.timing, self.runner.device
        takes = []
        for name in names:
            run = lambda function=self.function(name): function(*self.sets[self.turn])
            takes.append(timing.sampler(run, self.restore, device))
        with self.torch.no_grad():
            times, errors = timing.turns(takes, sampling)
        return {"times_ns": times, "errors": [e and shown(e) for e in errors]}


def shown(error):
    return f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARACTERS]


class Runner:
    def __init__(self, torch, directory, device):
        self.torch = torch
        self.alternatives = importlib.import_module("alternatives")  # all three import torch
        self.tensors = importlib.import_module("tensors")
        self.timing = importlib.import_module("timing")
        self.directory = directory
        self.device = torch.device(device)
        self.reference = load_file(directory, "reference")
        self.expert = load_file(directory, "expert")
        self.no_compile = None
        if importlib.util.find_spec("torch._dynamo") is None:
            self.no_compile = (
                f"torch {torch.__version__} has no torch.compile; install torch 2.0 or later"
            )
        self.shape, self.key = None, None

    def model(self, request):
        for name, size in request["axes"].items():  # such as the number of outputs
            if type(getattr(self.reference, name, None)) is int:
                setattr(self.reference, name, size)
        expected, scalars = len(self.reference.get_init_inputs()), request["scalars"]
        if expected != len(scalars):
            raise ValueError(
                f"get_init_inputs() has {expected} values, but the task has {len(scalars)} scalars"
            )
        return self.reference.Model(*scalars).to(self.device).eval()

    def open(self, request):
        """The shape of the request; the one of the last request, if it is the same."""
        key = json.dumps({n: v for n, v in request.items() if n not in ("mode", "modes", "sampling")})
        if key == self.key:
            return self.shape
        self.shape, self.key = None, None  # its tensors go before others come
        torch = self.torch
        self.alternatives.reset_compiler()  # each shape is compiled for itself
        torch.set_float32_matmul_precision("high" if request["tf32"] else "highest")
        torch.backends.cudnn.allow_tf32 = request["tf32"]
        self.shape, self.key = Shape(self, request), key
        return self.shape

    def answer(self, request):
        shape = self.open(request)
        if "modes" in request:
            return shape.time(request["modes"], request["sampling"])
        return shape.alternatives() if request["mode"] == "alternatives" else shape.run(request["mode"])

    def usable(self):
        """False after a GPU error that every later call would repeat."""
        if self.device.type == "cpu":
            return True
        try:
            self.torch.cuda.synchronize(self.device)
            self.torch.cuda.empty_cache()
            return True
        except Exception:
            return False


def open_runner(directory, device):
    """The runner and the first line; (None, line) when torch or the device is missing."""
    try:
        import torch
    except (ImportError, OSError) as error:
        return None, {"missing": f"{sys.executable} cannot import torch: {error}"}
    if device.startswith("cuda") and not torch.cuda.is_available():
        return None, {"missing": f"torch {torch.__version__} cannot use a GPU here"}
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "cpu"
    runner = Runner(torch, directory, device)
    line = {"torch": torch.__version__, "device": name}
    if runner.no_compile is not None:
        line["no_compile"] = runner.no_compile
    return runner, line


def main():
    protocol = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(message):
        protocol.write(json.dumps(message) + "\n")
        protocol.flush()

    runner, first_line = open_runner(sys.argv[1], sys.argv[2])
    say(first_line)
    if runner is None:
        return
    for line in sys.stdin:
        try:
            say({"error": None, **runner.answer(json.loads(line))})
        except Exception as error:
            say({"error": shown(error)})
        if not runner.usable():
            sys.exit(1)


if __name__ == "__main__":
    main()
