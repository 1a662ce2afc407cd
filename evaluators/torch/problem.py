"""A module file in KernelBench's form (Model, get_inputs(), get_init_inputs()), or a definition's run()."""

import inspect
import linecache
import sys
import types

import torch
from torch._subclasses import fake_tensor

import precision
from knobs import compiled, plain

CONSTRUCTION_SEED = 20231107  # tensors that the state does not hold are the same in each build
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def load_module(source, axes):
    """Executes the file with the integers that `axes` names."""
    source = plain(source)
    module = types.ModuleType("reference")
    module.__file__ = "reference.py"
    lines = source.splitlines(True)
    linecache.cache["reference.py"] = (len(source), None, lines, "reference.py")
    sys.modules["reference"] = module  # dataclasses and torch.jit look there
    exec(compiled(source, axes), module.__dict__)
    if is_definition(module):
        return module
    for name in ("Model", "get_init_inputs"):
        if not callable(module.__dict__.get(name)):
            raise ValueError(f"the file has no {name}")
    return module


def is_definition(module):
    """The reference of a definition is a function run(), not a class Model."""
    return callable(module.__dict__.get("run")) and "Model" not in module.__dict__


class Function(torch.nn.Module):
    """run() of a definition; `scalars`: {parameter: number}."""

    def __init__(self, run, scalars):
        super().__init__()
        self.run, self.scalars = run, scalars
        self.names = list(inspect.signature(run).parameters)

    def forward(self, *tensors):
        rest = iter(tensors)
        values = [self.scalars[n] if n in self.scalars else next(rest) for n in self.names]
        results = self.run(*values)
        return list(results.values()) if isinstance(results, dict) else results


def construct(module, scalars, mode, device, seed=CONSTRUCTION_SEED, names=()):
    """A fresh model. The caller sets the default dtype."""
    if is_definition(module):
        torch.manual_seed(seed)
        return Function(module.run, dict(zip(names, scalars)))
    arguments = module.get_init_inputs()
    if scalars and len(scalars) != len(arguments):
        raise ValueError(
            f"get_init_inputs() has {len(arguments)} values, but the task has {len(scalars)} scalars"
        )
    torch.manual_seed(seed)
    model = module.Model(*(scalars or arguments))
    if not isinstance(model, torch.nn.Module):
        raise ValueError("Model is no torch.nn.Module")
    model = model if device.type == "cpu" else model.to(device)
    return model.train(mode == "train")


class Problem:
    """A model of given sizes, kept for several runs."""

    def __init__(self, source, axes, scalars, mode, device, float64, seed=CONSTRUCTION_SEED, names=()):
        self.device = device
        self.float64 = float64
        with torch.no_grad(), self.dtypes(skip_filling=True):
            self.module = load_module(source, axes)
            self.model = construct(self.module, scalars, mode, device, seed, names)
            if float64:
                self.model.double()
        self.initial = {name: b.detach().clone() for name, b in self.model.named_buffers()}

    def dtypes(self, **options):
        return (precision.double_precision if self.float64 else precision.Plain)(**options)

    def set_state(self, state):
        """Loads {name: tensor}. Buffers that it does not name get their first values again."""
        places = dict(self.model.named_parameters())
        missing = sorted(set(places) - set(state))
        if missing:
            raise ValueError(f"no input is the parameter {missing[0]}")
        places.update(self.model.named_buffers())
        unknown = sorted(set(state) - set(places))
        if unknown:
            raise ValueError(f"the model has no parameter or buffer {unknown[0]}")
        with torch.no_grad():
            for name, place in places.items():
                value = state.get(name, self.initial.get(name))
                if list(value.shape) != list(place.shape):
                    raise ValueError(
                        f"{name} is {list(place.shape)}, but its input is {list(value.shape)}"
                    )
                place.copy_(value)

    def run(self, arguments, seed=CONSTRUCTION_SEED):
        """What forward returns: a tensor, or a tuple or list of them."""
        torch.manual_seed(seed)
        with torch.no_grad(), self.dtypes():
            return self.model(*arguments)

    def with_plain_values(self, tensors):
        """forward's arguments: the tensors, and between them the numbers of get_inputs()."""
        if isinstance(self.model, Function):
            return list(tensors)
        parameters = inspect.signature(self.model.forward).parameters.values()
        needed = [p for p in parameters if p.default is p.empty and p.kind in POSITIONAL]
        if len(needed) <= len(tensors):
            return list(tensors)
        try:
            with fake_tensor.FakeTensorMode(allow_fallback_kernels=False):
                own = self.module.get_inputs()
        except Exception:  # an operation without a shape rule
            own = self.module.get_inputs()
        places = iter(tensors)
        return [next(places) if isinstance(v, torch.Tensor) else v for v in own]
