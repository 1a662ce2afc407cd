"""Answers of wrong kernels, and how far they are from right in units of the error scale."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from noise import EPSILON, error_scales, is_paused
from rules import PRODUCTS
from tensors import task_dtype
from trial import SEEDS

MULTIPLE, NORM_MULTIPLE = 32, 4
SOUND = 4  # a larger factor is a finding, not a tolerance
CHAOTIC = 2.0**-10  # an error scale above this share of the output
HEADROOM = 1.5  # other devices sum in other orders
HUGE = 1e30  # JSON has no infinity
MANTISSAS = {"operands in tf32": 10, "operands in bf16": 7}


class Operands(TorchDispatchMode):
    """Rounds the factors of products, as tensor cores do."""

    def __init__(self, bits):
        super().__init__()
        self.bits, self.used = bits, False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.__name__.split(".")[0].rstrip("_")
        if name in PRODUCTS and not is_paused():
            first = 1 if name in ("addmm", "baddbmm", "addmv") else 0
            args = list(args)
            for i in (first, first + 1):
                args[i] = self.rounded(args[i])
        return func(*args, **(kwargs or {}))

    def rounded(self, tensor):
        if tensor.dtype != torch.float32:
            return tensor
        self.used = True
        step = 1 << (23 - self.bits)
        whole = tensor.contiguous().view(torch.int32)
        return ((whole + step // 2) & ~(step - 1)).view(torch.float32)


class Study:
    """The right answer to the first inputs, its error scale, and comparisons with it."""

    def __init__(self, trial, accumulate):
        self.trial, self.accumulate = trial, accumulate
        self.arguments = trial.arguments(SEEDS[0])
        self.right = trial.run(True, self.arguments)
        self.scales = self.scales_of(self.arguments, self.right)
        self.honest = trial.run(False, self.arguments)
        self.factor = max([1.0, *[self.honest_factor(seed) for seed in SEEDS]])

    def scales_of(self, arguments, right):
        again = lambda: self.trial.run(True, arguments)
        return error_scales(again, right, 1, self.accumulate)

    def honest_factor(self, seed):
        """How much larger than usual the limits must be for the module in its own precision."""
        if seed == SEEDS[0]:
            right, scales, got = self.right, self.scales, self.honest
        else:
            arguments = self.trial.arguments(seed)
            right = self.trial.run(True, arguments)
            scales, got = self.scales_of(arguments, right), self.trial.run(False, arguments)
        largest, rms = self.units(got, right, scales)
        factor = HEADROOM * max(largest / MULTIPLE, rms / NORM_MULTIPLE)
        return round(factor + 0.05, 1) if factor > 1 else 1.0

    def units(self, got, right=None, scales=None):
        """(largest, rms) over all outputs; an integer that differs is infinitely wrong."""
        largest, rms = 0.0, 0.0
        for one, y, scale in zip(got, right or self.right, scales or self.scales):
            if scale is None:
                largest = max(largest, 0.0 if torch.equal(one.to(y.dtype), y) else HUGE)
                continue
            dtype = one.dtype if one.dtype.is_floating_point else torch.float32
            rounding = EPSILON[task_dtype(dtype)] / 2
            error = ((one.double() - y).abs() - rounding * y.abs()).clamp(min=0)
            quotient = error / (EPSILON[self.accumulate] * scale).clamp(min=1e-300)
            quotient = torch.nan_to_num(quotient, HUGE, HUGE, HUGE).clamp(max=HUGE)
            largest = max(largest, float(quotient.max()))
            rms = max(rms, float(quotient.pow(2).mean().sqrt()))
        return largest, rms

    def row(self, name, got):
        largest, rms = self.units(got)
        limits = MULTIPLE * self.factor, NORM_MULTIPLE * self.factor
        row = {"name": name, "max": largest, "rms": rms}
        row["passes"] = largest <= limits[0] and rms <= limits[1]
        for label, tolerance in (("1e-4", 1e-4), ("1e-2", 1e-2)):
            row[f"passes_kernelbench_{label}"] = all(
                torch.allclose(y.double(), one.double(), atol=tolerance, rtol=tolerance)
                for y, one in zip(self.honest, got)
            )
        return row

    def rows(self):
        """[row] of each mutant that applies."""
        rows = [self.row("zeros", [torch.zeros_like(y) for y in self.honest])]
        means = batch_mean(self.honest)
        if means is not None:
            rows.append(self.row("batch mean", means))
        other = self.trial.arguments(SEEDS[1])
        rows.append(self.row("other inputs", self.trial.run(False, other)))
        for name, bits in MANTISSAS.items():
            operands = Operands(bits)
            got = self.trial.run(False, self.arguments, watch=operands)
            if operands.used:
                rows.append(self.row(name, got))
        rows.append(self.row("half of the inputs", self.trial.run(False, halved(self.arguments))))
        return rows


def outputs_of(name, case, run):
    """The outputs of a mutant at a case of a task; "own precision" is none. None: it does not apply."""
    if name == "own precision":
        return run()
    if name == "batch mean":
        return batch_mean(run())
    if name == "half of the inputs":
        case.replace(halved(case.arguments))
        return run()
    operands = Operands(MANTISSAS[name])
    with operands:
        results = run()
    return results if operands.used else None


def batch_mean(outputs):
    if not all(y.dim() > 1 and y.shape[0] > 1 and y.is_floating_point() for y in outputs):
        return None
    return [y.mean(0, keepdim=True).expand_as(y) for y in outputs]


def halved(arguments):
    """The second half of each floating input is 0."""
    found = []
    for value in arguments:
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 1:
            value = value.clone()
            axis = value.dim() - 1 if value.shape[-1] > 1 else 0
            middle = value.shape[axis] // 2
            value.narrow(axis, middle, value.shape[axis] - middle).zero_()
        found.append(value)
    return found


def sound(study):
    return study.factor <= SOUND and not any_chaotic(study)


def any_chaotic(study):
    pairs = zip(study.right, study.scales)
    return any(scale is not None and chaotic(y, scale) for y, scale in pairs)


def chaotic(y, scale):
    size = float(y.pow(2).mean().sqrt())
    return size > 0 and float(scale.pow(2).mean().sqrt()) * 2.0**-23 > CHAOTIC * size
