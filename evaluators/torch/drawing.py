"""Which generator of a task gives the inputs that get_inputs() draws, and drawing by generators."""

import torch
from torch.overrides import TorchFunctionMode

SAME_ELEMENTS = {
    "reshape", "view", "permute", "transpose", "t", "unsqueeze", "squeeze", "contiguous", "flatten",
    "clone", "detach", "requires_grad_", "to", "cuda", "cpu", "float", "half", "double", "bfloat16",
    "long", "int", "type", "bool",
}  # fmt: skip
SCALED = {"mul", "__mul__", "__rmul__", "mul_", "__imul__"}
DIVIDED = {"div", "__truediv__", "div_", "__itruediv__", "true_divide"}
MOVED = {"add": 1, "__add__": 1, "__radd__": 1, "sub": -1, "__sub__": -1, "add_": 1, "sub_": -1}
MOST_DEVIATIONS = 4.9  # of Winnow's normal distribution
CONSTANTS = {"zeros": 0.0, "ones": 1.0, "zeros_like": 0.0, "ones_like": 1.0}


class Draws(TorchFunctionMode):
    """Follows random tensors through what keeps their elements independent.

    With `signed`, rand() draws from the normal distribution: what the file does with the numbers
    stays.
    """

    def __init__(self, signed=False):
        super().__init__()
        self.signed = signed
        self.known = {}  # id: (tensor, its version, generator); holds the tensor, so ids stay

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in ("rand", "rand_like") and self.signed:
            return getattr(torch, name.replace("rand", "randn"))(*args, **kwargs)
        before = self.generator(args[0]) if args else None
        result = func(*args, **kwargs)
        generator = drawn(name, args, kwargs) or changed(name, before, args, kwargs)
        if generator and isinstance(result, torch.Tensor):
            self.known[id(result)] = (result, result._version, generator)
        return result

    def generator(self, tensor):
        """The generator of a tensor whose elements are draws, else None."""
        kept, version, generator = self.known.get(id(tensor), (None, 0, None))
        return generator if kept is tensor and version == tensor._version else None


def drawn(name, args, kwargs):
    """The generator of a new random tensor; its distribution as the file says."""
    if name in ("rand", "rand_like"):
        return {"kind": "uniform", "low": 0.0, "high": 1.0}
    if name in ("randn", "randn_like"):
        return {"kind": "normal", "mean": 0.0, "std": 1.0}
    if name == "uniform_":
        numbers = {"from": 0.0, "to": 1.0, **dict(zip(("from", "to"), args[1:])), **kwargs}
        return {"kind": "uniform", "low": numbers["from"], "high": numbers["to"]}
    if name == "normal_":
        numbers = {"mean": 0.0, "std": 1.0, **dict(zip(("mean", "std"), args[1:])), **kwargs}
        return {"kind": "normal", "mean": numbers["mean"], "std": numbers["std"]}
    if name in CONSTANTS:
        return {"kind": "constant", "value": CONSTANTS[name]}
    if name == "randint":
        two = len(args) > 1 and isinstance(args[1], int)
        high = kwargs.get("high", args[1] if two else args[0] if args else None)
        low = kwargs.get("low", args[0] if two else 0)
        if low == 0:
            return {"kind": "index", "limit": high}
        return {"kind": "small_integers", "low": low, "high": high - 1}
    return None


def changed(name, generator, args, kwargs):
    """The generator of a tensor computed from one whose generator is known."""
    if generator is None or name in SAME_ELEMENTS:
        return generator
    other = args[1] if len(args) == 2 and not kwargs else None
    if isinstance(other, torch.Tensor) and other.dim() == 0 and name in SCALED:
        return generator  # a random scale for all elements
    if not isinstance(other, (int, float)) or generator["kind"] not in ("uniform", "normal"):
        return None
    if name in SCALED:
        return affine(generator, other, 0)
    if name in DIVIDED and other:
        return affine(generator, 1 / other, 0)
    if name in MOVED:
        return affine(generator, 1, MOVED[name] * other)
    return None


def affine(generator, factor, offset):
    if generator["kind"] == "normal":
        return dict(
            generator, mean=generator["mean"] * factor + offset, std=generator["std"] * abs(factor)
        )
    ends = sorted(generator[end] * factor + offset for end in ("low", "high"))
    return dict(generator, low=ends[0], high=ends[1])


def signed(generator):
    """Inputs of both signs in place of those from [0, high): sums of positive terms hide errors."""
    if generator and generator["kind"] == "uniform" and generator["low"] == 0:
        return {"kind": "normal", "mean": 0.0, "std": generator["high"]}
    return generator


def ranged(generator):
    """The generator with ranges in place of numbers: each launch draws from them, so that no kernel
    knows the distribution. They stay near what the file says, and within the ends of rand()."""
    if generator and generator["kind"] == "normal" and generator["std"]:
        mean, std = generator["mean"], generator["std"]
        return dict(generator, mean=ends(mean - std, mean + std), std=ends(std / 2, 2 * std))
    if generator and generator["kind"] == "uniform" and generator["low"] < generator["high"]:
        low, high = generator["low"], generator["high"]
        part = (high - low) / 4
        if low == 0:
            return dict(generator, high=ends(part, high))
        return dict(generator, low=ends(low, low + part), high=ends(high - part, high))
    return generator


def ends(low, high):
    return [rounded(low), rounded(high)]


def widest(generator):
    """Evenly all values that ranged() allows: finds the rare one that a module cannot bear."""
    if generator == ranged(generator):
        return generator
    values = ranged(generator)
    if values["kind"] == "normal":
        reach = MOST_DEVIATIONS * values["std"][1]
        return {"kind": "uniform", "low": values["mean"][0] - reach, "high": values["mean"][1] + reach}
    return generator  # its ranges lie within it


def numbers_of(generator, random):
    """The generator with a number drawn from each range: as drawn() in generator_core.h, but for the
    random numbers."""
    numbers = dict(generator)
    for key, value in generator.items():
        if isinstance(value, list):
            low, high = value
            luck = float(torch.rand(1, generator=random, device=random.device))
            numbers[key] = low * (high / low) ** luck if low > 0 else low + (high - low) * luck
    return numbers


def of_weights(tensor):
    """The generator of a parameter: as it is initialised, but no vector is all 0 or all 1."""
    values = tensor.detach().float()
    mean, std = float(values.mean()), float(values.std(unbiased=False))
    if std == 0:
        return {"kind": "normal", "mean": rounded(mean), "std": 0.2}
    if abs(mean) < std / 10:
        mean = 0.0
    return {"kind": "normal", "mean": rounded(mean), "std": rounded(std)}


def rounded(value):
    return float(f"{value:.3g}")


def draw(generator, shape, dtype, random):
    """A tensor of this generator, on the device of `random`, a torch.Generator."""
    generator = numbers_of(generator, random)
    shape, kind = list(shape), generator["kind"]
    place = {"generator": random, "device": random.device}
    if kind == "uniform":
        low, high = generator["low"], generator["high"]
        return (torch.rand(shape, **place) * (high - low) + low).to(dtype)
    if kind == "constant":
        return torch.full(shape, generator["value"], device=random.device).to(dtype)
    if kind in ("index", "small_integers"):
        low = generator.get("low", 0)
        high = generator["limit"] if kind == "index" else generator["high"] + 1
        return torch.randint(low, high, shape, **place).to(dtype)
    values = torch.randn(shape, **place).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
    return (values * generator["std"] + generator["mean"]).to(dtype)
