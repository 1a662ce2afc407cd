"""The error scale of a module's outputs: how far an honest computation may be from the exact one.

The float64 module runs K times. In each run every operation errs at random, as it would in the
accumulate precision. The standard deviation of an output element over these runs is its scale.
"""

import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from rules import EXACT, size_after, size_before

RUNS = 5
POOL_WEIGHT = 2  # the mean over all elements counts as so many runs
SUM_ROUNDING = 2.0**-24  # sums of narrow dtypes are formed in float32
LEAST_ROUNDING = 2.0**-40  # below it, float64's own rounding would show; the scale is linear
LARGEST_SEED = 2**63
EPSILON = {
    "f64": 2.0**-52, "f32": 2.0**-23, "tf32": 2.0**-10, "f16": 2.0**-10, "bf16": 2.0**-7,
    "f8e4m3": 2.0**-3, "f8e5m2": 2.0**-2,
}  # fmt: skip

_paused = 0


@contextlib.contextmanager
def paused():
    """Operations in here are exact."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


def is_paused():
    return _paused > 0


def epsilon(accumulate):
    if accumulate not in EPSILON:
        raise ValueError(f"no error scale for accumulate = \"{accumulate}\"")
    return EPSILON[accumulate]


class Noise(TorchDispatchMode):
    """Adds a random error to each floating result: U(-1, 1) * rounding * size."""

    def __init__(self, seed, accumulate):
        super().__init__()
        self.seed, self.generators = seed, {}
        self.own = max(epsilon(accumulate) / 2, LEAST_ROUNDING)
        self.sums = min(self.own, SUM_ROUNDING)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func.__name__.split(".")[0]
        if _paused or name.rstrip("_") in EXACT:
            return func(*args, **kwargs)
        size = size_before(func, name.rstrip("_"), args, kwargs)
        result = func(*args, **kwargs)
        if size is None:
            size = size_after(name.rstrip("_"), args, result)
        for i, tensor in enumerate(result if isinstance(result, (list, tuple)) else [result]):
            if isinstance(tensor, torch.Tensor):
                self.disturb(tensor, size if i == 0 else None)
        return result

    def generator(self, device):
        """Modules make small tensors on the CPU, too."""
        if device not in self.generators:
            self.generators[device] = torch.Generator(device=device).manual_seed(self.seed)
        return self.generators[device]

    def disturb(self, tensor, size):
        if tensor.dtype == torch.complex128:
            tensor = torch.view_as_real(tensor)
            size = tensor.pow(2).mean().sqrt().expand(tensor.shape)
        if tensor.dtype != torch.float64 or tensor.numel() == 0:
            return
        amplitude = tensor.abs() * self.own
        if size is not None and self.sums < self.own:
            amplitude += size * self.sums
        elif size is not None:
            amplitude = size * self.own
        error = torch.empty_like(amplitude).uniform_(-1, 1, generator=self.generator(tensor.device))
        tensor.add_(torch.nan_to_num(error * amplitude, 0, 0, 0))


def error_scales(run, exact, seed, accumulate):
    """For each tensor of `exact` its magnitude: the standard deviation over epsilon.

    run() computes the outputs once more. An element that no run changed still gets a part of the
    others' mean; an output that no run changed is a copy, and its magnitude is 0 (docs/task.md).
    """
    if not any(y.is_floating_point() for y in exact):
        return [None] * len(exact)  # the task may have no accumulate precision
    squares = [torch.zeros_like(y) if y.is_floating_point() else None for y in exact]
    for k in range(RUNS):
        with Noise((seed * RUNS + k) % LARGEST_SEED, accumulate):
            results = run()
        for total, y, result in zip(squares, exact, results):
            if total is not None:
                total += torch.nan_to_num((result - y).pow(2), 0, 0, 0)
        del results
    return [None if total is None else magnitude(total, accumulate) for total in squares]


def magnitude(squares, accumulate):
    mean = squares.mean() / RUNS
    deviation = ((squares + POOL_WEIGHT * mean) / (RUNS + POOL_WEIGHT)).sqrt()
    rounding = max(epsilon(accumulate) / 2, LEAST_ROUNDING)
    return deviation / (2 * rounding)
