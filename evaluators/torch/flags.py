"""What a kernel could leave out of a module unseen."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from rules import EXACT
from tensors import as_list
from trial import SEEDS

COMPARED = frozenset("relu clamp clamp_min clamp_max hardtanh maximum minimum abs tril triu neg".split())
LEAST_CLAMP = 1e-4  # a smaller one keeps a quotient finite
NO_GRADIENT = 1e-9  # of the largest gradient; cancelled ones are at float64's rounding


class Idle(TorchDispatchMode):
    """Finds operations whose result is one of their arguments."""

    def __init__(self):
        super().__init__()
        self.found, self.index = set(), 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.__name__.split(".")[0]
        plain = name.rstrip("_")
        if not args or not is_float(args[0]) or not watched(plain, args):
            return func(*args, **(kwargs or {}))
        before = args[0].clone() if name.endswith("_") else args[0]
        result = func(*args, **(kwargs or {}))
        self.index += 1
        first = result[0] if isinstance(result, (tuple, list)) else result
        if is_float(first) and first.shape == before.shape and torch.equal(first, before):
            self.found.add((self.index, plain))
        return result


def watched(name, args):
    if name == "clamp_min" and not isinstance(args[1], torch.Tensor):
        return abs(args[1]) >= LEAST_CLAMP
    return name in COMPARED or name not in EXACT


def is_float(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def idle_steps(trial, large):
    """[text] of the operations that change nothing, whatever the inputs and in both trials."""
    common = None
    for part, seed in [*((trial, seed) for seed in SEEDS), (large, SEEDS[0])]:
        idle = Idle()
        part.run(False, part.arguments(seed), seed, watch=idle)
        common = idle.found if common is None else common & idle.found
    return [f"step {index} ({name}) changes nothing" for index, name in sorted(common)]


def unchanging(study):
    """[text] where the output is constant, or the same for other inputs."""
    texts = []
    for y in study.right:
        if y.numel() > 1 and bool((y == y.flatten()[0]).all()):
            texts.append("the output is constant")
    others = study.trial.run(True, study.trial.arguments(SEEDS[1]))
    if all(torch.allclose(a.double(), b.double(), 1e-12, 0) for a, b in zip(study.right, others)):
        texts.append("the output does not depend on the inputs")
    return texts


def without_gradient(trial):
    """[text] of parameters and inputs that the output does not depend on."""
    problem = trial.problem(True)
    problem.set_state(trial.state(0))
    arguments = []
    for value in trial.arguments(SEEDS[0]):
        if is_float(value):
            value = value.to(trial.device).double().requires_grad_(True)
        elif isinstance(value, torch.Tensor):
            value = value.to(trial.device)
        arguments.append(value)
    with torch.enable_grad(), problem.dtypes():
        given, named = problem.rebuilt([a.clone() if is_float(a) else a for a in arguments])
        result = as_list(problem.model(*given, **named))[0]
        if not result.requires_grad:
            return []
        torch.manual_seed(SEEDS[0])
        (result * torch.randn_like(result)).sum().backward()
    texts = silent_parameters(problem.model)
    names = [entry[0] for entry in trial.found.tensor_inputs()]
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    for i, (name, value) in enumerate(zip(names, tensors)):
        silent = is_float(value) and (value.grad is None or not value.grad.any())
        if silent and not (value.grad is None and moves(trial, i)):
            texts.append(f"{name} has no effect")
    return texts


def moves(trial, index):
    """Whether other elements of a tensor change the outputs. A module that wraps it in a Parameter has no gradient of
    it, either."""
    arguments, others = trial.arguments(SEEDS[0]), trial.arguments(SEEDS[1])
    places = [i for i, value in enumerate(arguments) if isinstance(value, torch.Tensor)]
    before = trial.run(True, arguments)
    arguments[places[index]] = others[places[index]]
    return any(not torch.equal(a, b) for a, b in zip(before, trial.run(True, arguments)))


def silent_parameters(model):
    sizes = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:  # others have a structure, and no gradient
            sizes[name] = 0.0 if parameter.grad is None else float(parameter.grad.abs().max())
        parameter.grad = None
    largest = max(sizes.values(), default=0.0)
    return [f"{name} has no effect" for name, size in sizes.items() if size <= NO_GRADIENT * largest]
