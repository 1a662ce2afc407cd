"""Tensors in the shared memory file, and the names that tasks give to dtypes."""

import mmap
import os

import torch

from forms import results_of

MEMORY_FILE = 3
NAMES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "i8": "int8", "u8": "uint8",
    "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64",
    "u64": "uint64", "bool": "bool", "i4x2": "uint8", "f4e2m1x2": "uint8", "f8e8m0": "uint8",
}  # fmt: skip


def torch_dtype(name):
    dtype = getattr(torch, NAMES.get(name, "?"), None)
    if dtype is None:
        raise ValueError(f"PyTorch {torch.__version__} has no tensors of {name}")
    return dtype


def task_dtype(dtype):
    """The task's name of a dtype of torch."""
    for ours, theirs in NAMES.items():
        if getattr(torch, theirs, None) == dtype:
            return ours
    raise ValueError(f"no task has tensors of {dtype}")


def elements(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


class Memory:
    """The memory file as it is now: it may have grown since the last request."""

    def __init__(self, file=MEMORY_FILE):
        self.map = mmap.mmap(file, 0)

    def view(self, offset, dtype, shape):
        count = elements(shape)
        end = offset + count * torch.empty(0, dtype=dtype).element_size()
        if offset < 0 or end > len(self.map):
            raise ValueError(f"a tensor ends at byte {end} of a memory file of {len(self.map)}")
        flat = torch.frombuffer(self.map, dtype=torch.uint8, count=end - offset, offset=offset)
        if flat.data_ptr() % 8:
            flat = flat.clone()  # only reads: outputs are aligned
        return flat.view(dtype).reshape(shape)

    def load(self, tensor, device):
        return placed(self.view(tensor["offset"], torch_dtype(tensor["dtype"]), tensor["shape"]), device)

    def store(self, tensor, offset):
        if offset % 8:
            raise ValueError(f"an output is at byte {offset}, which is no multiple of 8")
        self.view(offset, tensor.dtype, list(tensor.shape)).copy_(tensor)


def placed(tensor, device):
    """A copy on the device."""
    return tensor.clone() if device.type == "cpu" else tensor.to(device)


def from_file(path, tensor, device):
    """The tensor of a file's bytes."""
    data = torch.from_file(path, shared=False, size=os.path.getsize(path), dtype=torch.uint8)
    return placed(data.view(torch_dtype(tensor["dtype"])).reshape(tensor["shape"]), device)


def widened(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def as_list(results):
    """What forward returned, as a list of tensors; lists, tuples and dicts in it are flattened."""
    return [value for _, value in named_results(results)]


def named_results(results):
    """[(name, tensor)] of what forward returned."""
    found = []
    for i, (name, value) in enumerate(results_of(results)):
        if isinstance(value, (bool, int, float)):
            value = torch.tensor(value)
        elif not isinstance(value, torch.Tensor):
            raise ValueError(f"forward() returns a {type(value).__name__} as output {i}")
        found.append((name, value))
    return found


def check(expected, result, float64):
    """Raises if a result is not what the task says of it."""
    dtype = torch_dtype(expected["dtype"])
    dtype = torch.float64 if float64 and dtype.is_floating_point else dtype
    if result.dtype != dtype or list(result.shape) != list(expected["shape"]):
        raise ValueError(
            f"'{expected['name']}' is {result.dtype} {list(result.shape)}, but the task says "
            f"{dtype} {list(expected['shape'])}"
        )
