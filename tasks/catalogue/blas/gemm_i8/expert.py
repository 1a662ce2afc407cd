"""What a good user of PyTorch would try for gemm_i8."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def padded(multiple, n, k):
    """_int_mm of copies whose sizes are multiples."""
    more_n, more_k = -n % multiple, -k % multiple

    def call(a, b):
        a = F.pad(a, (0, more_k)) if more_k else a
        b = F.pad(b, (0, more_k, 0, more_n))
        return torch._int_mm(a, b.t())[:, :n].contiguous()

    return call


def alternatives(model, a, b):
    """{name: function}. _int_mm takes only multiples of 8 for n and k."""
    n, k = b.shape
    copies = compiled(lambda a, b: (a.to(torch.bfloat16), b.to(torch.bfloat16)))

    def in_bf16(a, b):
        left, right = copies(a, b)
        return torch.mm(left, right.t(), out_dtype=torch.float32).int()

    calls = {}
    if hasattr(torch.ops.aten.mm, "dtype"):  # exact while no sum leaves the 24 bits of f32
        calls["bf16 copies, sums in single precision"] = in_bf16
    if n % 8 or k % 8:
        calls["_int_mm of copies, multiples of 16"] = padded(16, n, k)
    if n % 128 or k % 128:
        calls["_int_mm of copies, multiples of 128"] = padded(128, n, k)
        calls["compiled, _int_mm of copies, multiples of 128"] = compiled(padded(128, n, k))
    return calls
