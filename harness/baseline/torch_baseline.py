"""Times a task's reference.py with PyTorch: the child process of `winnow baseline torch`.

    python3 torch_baseline.py DIRECTORY DEVICE

DIRECTORY holds reference.py (KernelBench's form), the inputs in_0.raw, in_1.raw, ... and takes the
outputs out_0.raw, ...: row-major elements, little-endian. DEVICE is torch's: cpu, cuda:0.
evaluators/torch/tensors.py and timing.py lie beside this file.

It says what it is on a first line of stdout: {"torch": version, "device": name}, or why it cannot
work: {"missing": why}. Then each line of stdin asks for one run and gets one line:
  {"mode": "eager" or "compile", "inputs": [{"name", "dtype", "shape"}], "inouts": [indices of
   inputs], "outputs": [as inputs], "scalars": [numbers], "axes": {name: size}, "tf32": bool,
   "sampling": null or {"warmup", "min_samples", "max_samples", "budget_ns"}, and perhaps
   "float64": true: floating inputs are widened to float64, and floating outputs must be and are
   written as such (without "sampling")}. An integer of the module that has the name of an axis
   gets the size of the axis.
  {"error": null or text, "times_ns": [numbers]}
The first line has "no_compile", too, where this torch has no torch.compile: why.
stdout is for these lines only: whatever else prints goes to stderr.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import sys

MAX_ERROR_CHARACTERS = 2000


class Runner:
    def __init__(self, torch, directory, device):
        self.torch = torch
        self.tensors = importlib.import_module("tensors")  # both import torch
        self.timing = importlib.import_module("timing")
        self.directory = directory
        self.device = torch.device(device)
        path = os.path.join(directory, "reference.py")
        spec = importlib.util.spec_from_file_location("reference", path)
        self.reference = importlib.util.module_from_spec(spec)
        sys.modules["reference"] = self.reference
        spec.loader.exec_module(self.reference)

    def load(self, index, tensor):
        path = os.path.join(self.directory, f"in_{index}.raw")
        size = os.path.getsize(path)
        data = self.torch.from_file(path, shared=False, size=size, dtype=self.torch.uint8)
        typed = data.view(self.tensors.torch_dtype(tensor["dtype"])).reshape(tensor["shape"])
        return typed.clone() if self.device.type == "cpu" else typed.to(self.device)

    @contextlib.contextmanager
    def plain_products(self):
        """torch's products of 8-bit matrices as they are documented: of doubles, of any size."""

        def scaled_mm(a, b, scale_a, scale_b, **ignored):
            return a.double() @ b.double() * (scale_a.double() * scale_b.double())

        def int_mm(a, b):
            return (a.long() @ b.long()).int()

        plain = {"_scaled_mm": scaled_mm, "_int_mm": int_mm}
        kept = {name: getattr(self.torch, name) for name in plain if hasattr(self.torch, name)}
        for name, product in plain.items():
            setattr(self.torch, name, product)
        try:
            yield
        finally:
            for name, product in kept.items():
                setattr(self.torch, name, product)

    def save(self, index, expected, tensor, float64):
        self.tensors.check(expected, tensor, float64)
        data = tensor.detach().contiguous().reshape(-1).view(self.torch.uint8).cpu()
        path = os.path.join(self.directory, f"out_{index}.raw")
        with open(path, "wb") as file:
            file.truncate(data.numel())
        self.torch.from_file(
            path, shared=True, size=data.numel(), dtype=self.torch.uint8
        ).copy_(data)

    def set_sizes(self, axes):
        """Lets forward() know the sizes that no input has, such as the number of outputs."""
        for name, size in axes.items():
            if type(getattr(self.reference, name, None)) is int:
                setattr(self.reference, name, size)

    def model(self, scalars):
        expected = len(self.reference.get_init_inputs())
        if expected != len(scalars):
            raise ValueError(
                f"get_init_inputs() has {expected} values, but the task has {len(scalars)} scalars"
            )
        return self.reference.Model(*scalars).to(self.device).eval()

    def answer(self, request):
        torch = self.torch
        if request["mode"] == "compile":
            importlib.import_module("torch._dynamo").reset()  # compile each shape separately
        precision = "high" if request["tf32"] else "highest"
        torch.set_float32_matmul_precision(precision)
        torch.backends.cudnn.allow_tf32 = request["tf32"]
        inputs = [self.load(i, tensor) for i, tensor in enumerate(request["inputs"])]
        float64 = request.get("float64", False)
        if float64:
            inputs = [self.tensors.widened(tensor) for tensor in inputs]
        originals = {i: inputs[i].clone() for i in request["inouts"]}
        self.set_sizes(request["axes"])
        model = self.model(request["scalars"])
        if request["mode"] == "compile":
            model = torch.compile(model)

        def restore():
            for i, original in originals.items():
                inputs[i].copy_(original)

        with torch.no_grad():
            with self.plain_products() if float64 else contextlib.nullcontext():
                results = model(*inputs)
            results = self.tensors.as_list(results)
            if len(results) != len(request["outputs"]):
                raise ValueError(
                    f"forward() returns {len(results)} tensors, but the task has "
                    f"{len(request['outputs'])} outputs"
                )
            for i, (expected, tensor) in enumerate(zip(request["outputs"], results)):
                self.save(i, expected, tensor, float64)
            del results
            if request["sampling"] is None:
                return []
            run = lambda: model(*inputs)
            return self.timing.samples(run, restore, self.device, request["sampling"])

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
    line = {"torch": torch.__version__, "device": name}
    if importlib.util.find_spec("torch._dynamo") is None:
        line["no_compile"] = (
            f"torch {torch.__version__} has no torch.compile; install torch 2.0 or later"
        )
    return Runner(torch, directory, device), line


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
            say({"error": None, "times_ns": runner.answer(json.loads(line))})
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            say({"error": text[:MAX_ERROR_CHARACTERS], "times_ns": []})
        if not runner.usable():
            sys.exit(1)


if __name__ == "__main__":
    main()
