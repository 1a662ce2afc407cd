"""How a module is run in double precision although it names other dtypes, and exact settings."""

import contextlib

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

import noise
import seeds

NARROW = {"Half": torch.float16, "BFloat16": torch.bfloat16}
RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell"}
FILLING = {
    "uniform_", "normal_", "kaiming_uniform_", "kaiming_normal_", "xavier_uniform_",
    "xavier_normal_", "trunc_normal_", "orthogonal_",
}  # fmt: skip
SHIFTS = {  # the operators have no shape rule in PyTorch 1.13
    "__rshift__": torch.bitwise_right_shift, "__irshift__": torch.bitwise_right_shift,
    "__lshift__": torch.bitwise_left_shift, "__ilshift__": torch.bitwise_left_shift,
}  # fmt: skip
NARROWING = {"float", "half", "bfloat16"}
TENSOR_TYPES = {"torch.FloatTensor", "torch.HalfTensor", "torch.BFloat16Tensor"}


_own = 0


def widened_dtype(value):
    """float64 or complex128 in place of another floating or complex dtype."""
    if isinstance(value, torch.dtype):
        if value.is_floating_point:
            return torch.float64
        return torch.complex128 if value.is_complex else value
    if isinstance(value, str) and value.replace("cuda.", "") in TENSOR_TYPES:
        return torch.float64
    return value


class Plain(TorchFunctionMode):
    """Recurrent networks run as separate operations, not as one call of cuDNN.

    With `skip_filling`, parameters are not filled at random: they will get other values anyway.
    """

    def __init__(self, skip_filling=False):
        super().__init__()
        self.skip_filling = skip_filling

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name == "cuda" and not torch.cuda.is_available():
            return args[0]
        args, kwargs = on_this_machine(args, seeds.without_own(kwargs or {}))
        if self.skip_filling and name in FILLING:
            filled = args[0] if args else (kwargs or {}).get("tensor")
            if isinstance(filled, torch.nn.Parameter):
                return filled
        if name in RECURRENT:
            with without_cudnn():
                return func(*args, **(kwargs or {}))
        if name in SHIFTS and not kwargs:
            result = SHIFTS[name](*args)
            return args[0].copy_(result) if name.startswith("__i") else result
        return emulated(func, args, kwargs or {})


def on_this_machine(args, kwargs):
    """The CPU in place of a GPU that the file names and the machine lacks."""
    if torch.cuda.is_available():
        return args, kwargs
    args = tuple(torch.device("cpu") if names_gpu(value) else value for value in args)
    return args, {key: torch.device("cpu") if names_gpu(value) else value for key, value in kwargs.items()}


def names_gpu(value):
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and value.split(":")[0] == "cuda"


def emulated(func, args, kwargs):
    """func(*args), in float32 where this device has no such function of narrow floats: PyTorch 1.13 has no products
    of f16 on CPUs. The result has the narrow dtype again."""
    try:
        return func(*args, **kwargs)
    except RuntimeError as error:
        narrow = next((d for word, d in NARROW.items() if f"not implemented for '{word}'" in str(error)), None)
        if narrow is None or getattr(func, "__name__", "").endswith("_"):
            raise
    wide = tree_map(lambda v: v.float() if getattr(v, "dtype", None) == narrow else v, (args, kwargs))
    with noise.paused():  # narrow factors are no wrong answer
        results = func(*wide[0], **wide[1])
    return tree_map(lambda v: v.to(narrow) if getattr(v, "dtype", None) == torch.float32 else v, results)


class Widened(Plain):
    """Whatever floating dtype the module names, it gets float64."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if _own:
            return super().__torch_function__(func, types, args, kwargs)
        if name in NARROWING and len(args) == 1:
            return args[0].double()
        kwargs = {key: widened_dtype(value) for key, value in (kwargs or {}).items()}
        args = tuple(widened_dtype(value) for value in args)
        if name == "_scaled_mm":
            return scaled_mm(*args, **kwargs)
        if name == "_int_mm":
            return int_mm(*args)
        return super().__torch_function__(func, types, args, kwargs)


@contextlib.contextmanager
def without_cudnn():
    kept = torch.backends.cudnn.enabled
    torch.backends.cudnn.enabled = False
    try:
        yield
    finally:
        torch.backends.cudnn.enabled = kept


def scaled_mm(a, b, scale_a, scale_b, bias=None, **ignored):
    """torch's product of 8-bit floats as it is documented: of any size."""
    product = a.double() @ b.double() * (scale_a.double() * scale_b.double())
    return product if bias is None else product + bias.double()


def int_mm(a, b):
    """Doubles hold these sums exactly; torch has no product of int64 on GPUs."""
    with noise.paused():
        return (a.double() @ b.double()).int()


@contextlib.contextmanager
def default_dtype(dtype):
    kept = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(kept)


@contextlib.contextmanager
def double_precision(skip_filling=False):
    with default_dtype(torch.float64), Widened(skip_filling):
        yield


@contextlib.contextmanager
def own_dtypes():
    """Within double_precision(): the dtypes that the file names."""
    global _own
    _own += 1
    try:
        with default_dtype(torch.float32):
            yield
    finally:
        _own -= 1


def use_exact_products():
    """No TF32; attention as separate operations, so that the noise model sees each."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    allow_fused_attention(False)


def allow_fused_attention(allowed):
    for kind in ("flash", "mem_efficient", "cudnn"):
        enable = getattr(torch.backends.cuda, f"enable_{kind}_sdp", None)
        if enable is not None:
            enable(allowed)
