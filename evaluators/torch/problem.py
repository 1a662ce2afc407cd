"""A module file in KernelBench's form (Model, get_inputs(), get_init_inputs()), or a definition's run()."""

import contextlib
import inspect
import linecache
import random
import sys
import types

import torch
from torch._subclasses import fake_tensor

import precision
from forms import POSITIONAL, Form, constructor_arguments
from knobs import compiled, plain
from seeds import without_own_seeds

CONSTRUCTION_SEED = 20231107  # tensors that the state does not hold are the same in each build
NOT_KNOWN = object()


def load_module(source, axes):
    """Executes the file with the integers that `axes` names."""
    module = execute(source, axes)
    if is_definition(module):
        return module
    for name in ("Model", "get_init_inputs"):
        if not callable(module.__dict__.get(name)):
            raise ValueError(f"the file has no {name}")
    return module


def execute(source, axes):
    source = plain(source)
    module = types.ModuleType("reference")
    module.__file__ = "reference.py"
    lines = source.splitlines(True)
    linecache.cache["reference.py"] = (len(source), None, lines, "reference.py")
    sys.modules["reference"] = module  # dataclasses and torch.jit look there
    exec(compiled(source, axes), module.__dict__)
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


def construct(module, scalars, mode, device, seed=CONSTRUCTION_SEED, names=(), freeze=contextlib.nullcontext):
    """A fresh model. The caller sets the default dtype. `freeze`: a context for the constructor."""
    if is_definition(module):
        torch.manual_seed(seed)
        return Function(module.run, dict(zip(names, scalars)))
    arguments, named = constructor_arguments(module.get_init_inputs(), module.Model)
    if scalars and len(scalars) != len(arguments):
        raise ValueError(
            f"get_init_inputs() has {len(arguments)} values, but the task has {len(scalars)} scalars"
        )
    seed_all(seed)
    with freeze():
        model = module.Model(*(scalars or arguments), **named)
    if not isinstance(model, torch.nn.Module):
        raise ValueError("Model is no torch.nn.Module")
    model = model if device.type == "cpu" else model.to(device)
    return model.train(mode == "train")


def seed_all(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


class Problem:
    """A model of given sizes, kept for several runs."""

    def __init__(self, source, axes, scalars, mode, device, float64, seed=CONSTRUCTION_SEED, names=()):
        self.device = device
        self.float64 = float64
        with torch.no_grad(), self.dtypes(skip_filling=True):
            self.module = load_module(source, axes)
            build = lambda: construct(self.module, scalars, mode, device, seed, names)
            self.model = self.build(build)
        self.form = None if isinstance(self.model, Function) else NOT_KNOWN
        self.initial = {name: b.detach().clone() for name, b in self.model.named_buffers()}

    def build(self, build):
        """The model; in its own dtypes first where a constructor that packs bits fails in float64."""
        if not self.float64:
            return build()
        try:
            return build().double()
        except (RuntimeError, TypeError, ValueError):
            with precision.own_dtypes():
                return build().double()

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
        """What forward returns. `arguments`: its tensors and numbers, flat."""
        given, named = self.rebuilt(arguments)
        torch.manual_seed(seed)
        with torch.no_grad(), self.dtypes():
            return self.model(*given, **named)

    def rebuilt(self, arguments):
        """(arguments, {name: argument}) of forward."""
        form = self.nested_form(arguments)
        return form.rebuild(arguments) if form else (list(arguments), {})

    def nested_form(self, arguments):
        """The form of get_inputs(), or None where it is a plain list."""
        if self.form is NOT_KNOWN:
            own = self.own_inputs(len(arguments))
            self.form = None if own is None else Form(own, self.model.forward)
            if self.form and self.form.is_flat:
                self.form = None
        return self.form

    def own_inputs(self, count):
        """What get_inputs() gives, without computing it where that can be had. None: that many plain arguments."""
        try:
            with fake_tensor.FakeTensorMode(allow_fallback_kernels=False), precision.Plain(), without_own_seeds():
                return self.module.get_inputs()
        except Exception:  # an operation without a shape rule
            positional = [p for p in self.parameters() if p.kind in POSITIONAL]
            if count == len(positional) or not callable(self.module.__dict__.get("get_inputs")):
                return None
            with precision.Plain(), without_own_seeds():
                return self.module.get_inputs()

    def parameters(self):
        return list(inspect.signature(self.model.forward).parameters.values())

    def with_plain_values(self, tensors):
        """forward's arguments, flat: the tensors, and between them the numbers of get_inputs()."""
        if isinstance(self.model, Function):
            return list(tensors)
        needed = [p for p in self.parameters() if p.default is p.empty and p.kind in POSITIONAL]
        form = self.nested_form(tensors)
        if form is None and len(needed) <= len(tensors):
            return list(tensors)
        own = form.leaves() if form else self.own_inputs(-1)
        places = iter(tensors)
        return [next(places) if isinstance(v, torch.Tensor) else v for v in own]
