"""The ways in which PyTorch runs a module: what its user would try before writing a kernel."""

import copy
import importlib.util
import sys

import torch
from torch.nn.modules.conv import _ConvNd
from torch.utils._pytree import tree_map

EAGER, COMPILED, TUNED = "eager", "compile", "compile max-autotune"
CUDNN, CHANNELS_LAST = "cudnn.benchmark", "channels last"
TUNED_CHANNELS_LAST = f"{TUNED}, {CHANNELS_LAST}"
TF32 = "TF32"  # another precision: shown, but only right where the task allows it
TUNED_MODE = "max-autotune-no-cudagraphs"
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


class Alternatives:
    """Functions of forward's arguments, by name, for one model. Each is made at its first use."""

    def __init__(self, model, device):
        self.model, self.device = model, device
        self.relaid = None  # the model with weights in channels-last order
        self.made = {}

    def names(self):
        on_gpu = self.device.type == "cuda"
        can_compile = importlib.util.find_spec("torch._dynamo") is not None
        names = [EAGER]
        names += [COMPILED] if can_compile else []
        names += [TUNED] if can_compile and on_gpu else []  # on the CPU it takes minutes and gains little
        if any(isinstance(m, _ConvNd) and m.weight.dim() in FORMATS for m in self.model.modules()):
            names += [CUDNN] if on_gpu else []
            names += [CHANNELS_LAST]
            names += [TUNED_CHANNELS_LAST] if can_compile and on_gpu else []
        return names + ([TF32] if on_gpu else [])

    def function(self, name):
        if name not in self.made:
            if name not in self.names():
                raise ValueError(f"PyTorch has no way {name!r} to run this module here")
            self.made[name] = self.make(name)
        return self.made[name]

    def make(self, name):
        if name == EAGER:
            return self.model
        if name == COMPILED:
            return torch.compile(self.model, dynamic=False)
        if name == TUNED:
            return torch.compile(self.model, mode=TUNED_MODE, dynamic=False)
        if name == CUDNN:
            return with_settings(self.model, benchmark=True)
        if name == TF32:
            return with_settings(self.model, benchmark=True, tf32=True)
        relaid = self.channels_last()
        if name == TUNED_CHANNELS_LAST:
            return torch.compile(relaid, mode=TUNED_MODE, dynamic=False)
        return with_settings(relaid, benchmark=True)

    def channels_last(self):
        """The inputs and results keep their order, so what turns them takes time as well."""
        self.relaid = copy.deepcopy(self.model)
        for tensor in tensors_of(self.relaid):
            tensor.data = last(tensor.data)
        return lambda *arguments, **named: tree_map(
            plain, self.relaid(*tree_map(last, arguments), **tree_map(last, named))
        )

    def take_state(self):
        """After the model has got another state."""
        if self.relaid is not None:
            for mine, other in zip(tensors_of(self.relaid), tensors_of(self.model)):
                mine.data.copy_(other.data)


def tensors_of(model):
    return [*model.parameters(), *model.buffers()]


def last(value):
    """An image with its channels last in memory; other values as they are."""
    is_image = isinstance(value, torch.Tensor) and value.dim() in FORMATS and value.is_floating_point()
    return value.contiguous(memory_format=FORMATS[value.dim()]) if is_image else value


def plain(value):
    return value.contiguous() if isinstance(value, torch.Tensor) else value


def with_settings(function, benchmark, tf32=False):
    """Settings of all of PyTorch, for this call only."""

    def run(*arguments, **named):
        set_all(benchmark, tf32)
        try:
            return function(*arguments, **named)
        finally:
            set_all(False, False)

    return run


def set_all(benchmark, tf32):
    torch.backends.cudnn.benchmark = benchmark
    torch.backends.cudnn.allow_tf32 = tf32
    torch.set_float32_matmul_precision("high" if tf32 else "highest")


def reset_compiler():
    """So that each shape is compiled for itself."""
    if "torch._dynamo" in sys.modules:
        sys.modules["torch._dynamo"].reset()
