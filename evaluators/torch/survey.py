"""What a module has at given sizes: its tensors and the work, mostly without computing anything."""

import inspect

import torch
from torch._subclasses import fake_tensor
from torch.utils._python_dispatch import TorchDispatchMode

import precision
from compat import replacing_parameters
from drawing import Draws
from forms import Form, leaves, refuse_complex
from people import numbered
from problem import construct, load_module
from rules import EXACT, NORMS, PRODUCTS, SOFTMAXES, SUMS, terms
from seeds import without_own_seeds
from tensors import named_results

REAL_LIMIT = 4e7  # elements of what is really computed where no shape rule exists
LONG_SUM = 256  # sums of more terms may be split over blocks
NORM_OPERATIONS = 4  # for each element: the sums, and the result
ESTIMATED_OPERATIONS = 40  # for each element, where an operation has no shape rule
GAPS = (NotImplementedError,) + tuple(
    getattr(fake_tensor, name)
    for name in (
        "UnsupportedOperatorException", "DynamicOutputShapeException",
        "DataDependentOutputException", "UnsupportedFakeTensorException",
    )
    if hasattr(fake_tensor, name)
)  # fmt: skip


class Refused(Exception):
    """The module cannot be a task; the text says why."""


class Counter(TorchDispatchMode):
    """Counts operations and the elements of all results."""

    def __init__(self):
        super().__init__()
        self.operations, self.elements, self.reduces, self.steps = 0, 0, False, 0
        self.steps_of = []  # (name, operations) of each that computes

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func.__name__.split(".")[0].rstrip("_")
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if not isinstance(first, torch.Tensor):
            return result
        if min(first.shape, default=1) <= 0 and (name in PRODUCTS or "pool" in name):
            raise ValueError(f"{name} has a result of {list(first.shape)}")  # some torch run on
        self.elements += first.numel()
        known = name in PRODUCTS or name in SUMS or name in NORMS or name in SOFTMAXES
        count = terms(name, args, first) if known else 1
        self.reduces |= known and count > LONG_SUM
        self.steps += name not in EXACT
        added = operations(name, args, first, count)
        self.operations += added
        if added:
            self.steps_of.append((name, added))
        return result


def operations(name, args, result, count):
    """The least that an operation computes; copies and comparisons count nothing."""
    if name in PRODUCTS:
        return int(2 * result.numel() * count)
    if name in NORMS or name in SOFTMAXES:
        return NORM_OPERATIONS * max(args[0].numel(), result.numel())
    if name in SUMS:
        return max(args[0].numel(), result.numel())
    return 0 if name in EXACT else result.numel()


class Survey:
    """Shapes and dtypes: inputs as (name, dtype, shape, generator) or a plain value."""

    def __init__(self):
        self.inputs, self.state, self.outputs = [], [], []
        self.init, self.operations, self.elements, self.reduces = "", 0, 0, False
        self.steps, self.steps_of = 0, []
        self.is_fake = False  # nothing was computed
        self.is_plain = False  # the state has floating parameters and statistics only
        self.estimated = False  # then the outputs are not known

    def bytes(self):
        total = 0
        for part in (self.tensor_inputs(), self.state, self.outputs):
            for entry in part:
                total += torch.Size(entry[2]).numel() * torch.empty(0, dtype=entry[1]).element_size()
        return total

    def structure(self):
        """What all sizes of a task have in common."""
        parts = [self.tensor_inputs(), self.state, self.outputs]
        return [[(entry[0], entry[1], len(entry[2])) for entry in part] for part in parts]

    def tensor_inputs(self):
        return [entry for entry in self.inputs if isinstance(entry, tuple)]


def survey(source, values, mode, drawn=()):
    """Looks at the module at the sizes `values`. Computes only where torch has no shape rule. `drawn`: the buffers
    that are inputs."""
    try:
        with fake_tensor.FakeTensorMode(allow_fallback_kernels=False), replacing_parameters():
            found = look(source, values, mode, drawn)
            found.is_fake = True
        if not found.estimated or found.elements > REAL_LIMIT:
            return found
    except GAPS:
        pass  # a constructor reads an element
    except (RuntimeError, AssertionError) as error:
        # Gaps of fake tensors: PyTorch 1.13 names "meta", and PyTorch 2 has "Mixing fake modes" where a module copies a layer.
        if not any(word in str(error) for word in ("meta", "fake modes", "Couldn't swap")):
            raise
    return look(source, values, mode, drawn)


def look(source, values, mode, drawn):
    found = Survey()
    with torch.no_grad(), precision.Plain():
        module = load_module(source, values)
        draws = Draws()
        given = given_inputs(module, draws)
        model = construct(module, [], mode, torch.device("cpu"))
        found.init = init_text(module)
        form = Form(given, model.forward)
        for name, value in named_leaves(form, model):
            refuse_complex("input", name, value)
            found.inputs.append(entry(name, value, draws))
        state = state_of(model, mode, drawn)
        for name, tensor in state.items():
            refuse_complex("state", name, tensor)
        found.state = [(n, t.dtype, list(t.shape)) for n, t in state.items()]
        found.is_plain = has_plain_state(model)
        inputs = form.leaves()
        size = sum(t.numel() for t in list(model.parameters()) + inputs if hasattr(t, "numel"))
        counter = Counter()
        try:
            arguments, named = form.rebuild(inputs)
            with counter:
                outputs = named_results(model(*arguments, **named))
        except GAPS:  # an operation has no shape rule
            outputs, found.estimated = [], True
            counter.operations = max(counter.operations, ESTIMATED_OPERATIONS * size)
    for name, tensor in outputs:
        refuse_complex("output", name, tensor)
    found.outputs = [(n, t.dtype, list(t.shape)) for n, t in outputs]
    written = sum(t.numel() for _, t in outputs)
    found.operations, found.reduces = max(counter.operations, written), counter.reduces
    found.steps = counter.steps
    found.steps_of = counter.steps_of if counter.operations >= written else []
    found.elements = counter.elements + size
    return found


def init_text(module):
    """The numbers and texts that the constructor gets."""
    values = leaves(module.get_init_inputs(), "")
    return repr([(name, v) for name, v in values if not isinstance(v, torch.Tensor)])


def given_inputs(module, mode):
    """What get_inputs() gives, drawn under a function mode."""
    if not callable(module.__dict__.get("get_inputs")):
        raise Refused("the file has no get_inputs")
    with mode, without_own_seeds():
        return module.get_inputs()


def named_leaves(form, model):
    """[(name, value)] of forward's arguments; the names differ."""
    taken = set()
    names = argument_names(model, len(form.arguments))
    return [(numbered(name, taken), value) for name, value in form.entries(names)]


def entry(name, value, draws):
    if not isinstance(value, torch.Tensor):
        return value
    return (name, value.dtype, list(value.shape), draws.generator(value))


def argument_names(model, count):
    """Names of forward's arguments; the last one is repeated for *arguments."""
    names = []
    for parameter in inspect.signature(model.forward).parameters.values():
        if parameter.kind == parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}_{i}" for i in range(count)]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    if len(names) < count:
        raise Refused(f"get_inputs() gives {count} values, but forward takes {len(names)}")
    return names[:count]


def state_of(model, mode, drawn=()):
    """{name: tensor} of what must be an input: parameters, in eval mode running statistics, and the buffers that the
    constructor draws."""
    state = {name: p for name, p in model.named_parameters()}
    for name, buffer in model.named_buffers():
        if name in drawn or is_statistic(name) and mode == "eval":
            state[name] = buffer
    return state


def is_statistic(name):
    return name.split(".")[-1] in ("running_mean", "running_var")


def has_plain_state(model):
    """Whether no tensor has a structure of its own, so that weights may be noise."""
    for parameter in model.parameters():
        if not parameter.is_floating_point() or not parameter.requires_grad:
            return False
    buffers = [name for name, _ in model.named_buffers()]
    return all(is_statistic(name) or name.endswith("num_batches_tracked") for name in buffers)
