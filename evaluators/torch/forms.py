"""Arguments and results that are lists, tuples or dicts of tensors: flat for a task, rebuilt for the module.

get_inputs() may give a list of forward's arguments, a dict of them by name, or a list whose last entry is such a dict.
get_init_inputs() may do the same for the constructor, or give [arguments, {name: argument}].
"""

import inspect

import torch

CONTAINERS = (list, tuple, dict)
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parts(value):
    """[(label, part)] of a container, in a fixed order."""
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value))


def leaves(value, name):
    """[(name, leaf)]: kv_0, kv_1, state_h."""
    if not isinstance(value, CONTAINERS):
        return [(name, value)]
    found = []
    for label, part in parts(value):
        found += leaves(part, f"{name}_{label}" if name else str(label))
    return found


def rebuilt(value, fresh):
    """The same containers with the next leaves of an iterator."""
    if not isinstance(value, CONTAINERS):
        return next(fresh)
    made = [(label, rebuilt(part, fresh)) for label, part in parts(value)]
    if isinstance(value, dict):
        return dict(made)
    values = [part for _, part in made]
    if hasattr(value, "_fields"):  # a namedtuple
        return type(value)(*values)
    return tuple(values) if isinstance(value, tuple) else values


class Form:
    """How get_inputs() gives forward's arguments."""

    def __init__(self, inputs, forward, skipped=0):
        if not isinstance(inputs, CONTAINERS):
            raise ValueError(f"get_inputs() returns a {type(inputs).__name__}, not a list")
        self.arguments, self.named = split(inputs, forward, skipped)
        self.is_flat = not self.named and not any(isinstance(v, CONTAINERS) for v in self.arguments)

    def leaves(self):
        return [leaf for _, leaf in self.entries([""] * len(self.arguments))]

    def entries(self, names):
        """[(name, leaf)]; `names`: of the arguments without a name."""
        found = []
        for name, value in [*zip(names, self.arguments), *self.named.items()]:
            found += leaves(value, name)
        return found

    def rebuild(self, values):
        """(arguments, {name: argument}) with these leaves."""
        fresh = iter(values)
        arguments = [rebuilt(value, fresh) for value in self.arguments]
        return arguments, {name: rebuilt(value, fresh) for name, value in self.named.items()}


def split(values, function, skipped=0):
    """(arguments, {name: argument}) for a function, of what get_inputs() or get_init_inputs() gives."""
    if isinstance(values, dict):
        return [], dict(values)
    values = list(values)
    last = values[-1] if values else None
    if isinstance(last, dict) and are_arguments(last, skipped + len(values) - 1, function):
        return values[:-1], last
    return values, {}


def are_arguments(named, count, function):
    """Whether the keys are names of arguments that `count` others leave free."""
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p.name for p in parameters if p.kind in POSITIONAL]
    if named and all(key in positional[count:] for key in named):
        return True
    keywords = {p.name for p in parameters if p.kind == p.KEYWORD_ONLY} | set(positional[count:])
    open_ended = any(p.kind == p.VAR_KEYWORD for p in parameters)
    return bool(named) and count >= len(positional) and (open_ended or all(key in keywords for key in named))


def constructor_arguments(values, model):
    """(arguments, {name: argument}) of what get_init_inputs() gives."""
    if isinstance(values, (list, tuple)) and len(values) == 2:
        first, last = values
        names = set(inspect.signature(model).parameters)
        if isinstance(first, (list, tuple)) and isinstance(last, dict) and all(key in names for key in last):
            return list(first), dict(last)
    if not isinstance(values, CONTAINERS):
        raise ValueError(f"get_init_inputs() returns a {type(values).__name__}, not a list or a dict")
    return split(values, model)


def results_of(results):
    """[(name, value)] of what forward returns: out, or out_0, out_1_0, or the keys of a dict."""
    if not isinstance(results, CONTAINERS):
        return [("out", results)]
    if len(results) == 1 and not isinstance(results, dict):
        return [(name if name != "out_0" else "out", value) for name, value in leaves(results, "out")]
    found = leaves(results, "" if isinstance(results, dict) else "out")
    return [(name, value) for name, value in found if value is not None]


def refuse_complex(kind, name, tensor):
    """Raises with what to change."""
    if isinstance(tensor, torch.Tensor) and tensor.is_complex():
        changes = {
            "input": f"get_inputs() can give torch.view_as_real({name}), and forward() begin with "
                     f"{name} = torch.view_as_complex({name})",
            "output": f"forward() can return torch.view_as_real({name})",
            "state": f"the constructor can keep torch.view_as_real({name}), and forward() use "
                     "torch.view_as_complex() of it",
        }  # fmt: skip
        raise ValueError(f"the {kind} {name} is {tensor.dtype}, and no task has complex tensors: {changes[kind]}")
