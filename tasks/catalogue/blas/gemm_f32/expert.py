"""What a good user of PyTorch would try for gemm_f32."""
import torch

STEP = 2048  # between the two parts of a number: half precision has 11 bits


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def runs(call, *inputs):
    """Whether this version has the call."""
    try:
        call(*inputs)
    except (RuntimeError, TypeError):
        return False
    return True


def with_tf32(product):
    def call(a, b):
        kept = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        try:
            return product(a, b)
        finally:
            torch.set_float32_matmul_precision(kept)

    return call


def by_cublaslt(a, b):
    prefer = torch.backends.cuda.preferred_blas_library
    kept = prefer()
    prefer("cublaslt")
    try:
        return torch.mm(a, b)
    finally:
        prefer(kept)


def tf32_parts(x):
    """The part that TF32 represents, and the rest."""
    high = (x.view(torch.int32) & -8192).view(torch.float32)
    return high, x - high


def f16_parts(x):
    high = x.half()
    return high, ((x - high.float()) * STEP).half()


def tf32_split(a, b):
    """Factors of one long product: the small terms come first."""
    (a1, a2), (b1, b2) = tf32_parts(a), tf32_parts(b)
    return torch.cat([a2, a1, a1], dim=1), torch.cat([b1, b2, b1], dim=0)


def f16_split(a, b):
    """Factors of the product of small terms; the large parts are slices of them."""
    (a1, a2), (b1, b2) = f16_parts(a), f16_parts(b)
    return torch.cat([a1, a2], dim=1), torch.cat([b2, b1], dim=0)


def alternatives(model, a, b):
    """{name: function}. Two parts of a number have nearly all of its bits: three products."""
    k = a.shape[1]
    for_tf32, for_f16 = compiled(tf32_split), compiled(f16_split)

    def by_tf32(a, b):
        return torch.mm(*for_tf32(a, b))

    def by_f16(a, b):
        left, right = for_f16(a, b)
        small = torch.mm(left, right, out_dtype=torch.float32)
        large = torch.mm(left[:, :k], right[k:], out_dtype=torch.float32)
        return large.add_(small, alpha=1 / STEP)

    def by_f16_addmm(a, b):
        left, right = for_f16(a, b)
        small = torch.mm(left, right, out_dtype=torch.float32)
        return torch.addmm(small, left[:, :k], right[k:], out_dtype=torch.float32, beta=1 / STEP)

    calls = {
        "three TF32 products of split factors": with_tf32(by_tf32),
        "three f16 products of split factors": by_f16,
        "three f16 products of split factors, addmm": by_f16_addmm,
    }
    calls = {name: call for name, call in calls.items() if runs(call, a, b)}
    if hasattr(torch.backends.cuda, "preferred_blas_library"):
        calls["cuBLASLt, mm"] = by_cublaslt
    calls["TF32, mm"] = with_tf32(torch.mm)
    return calls
