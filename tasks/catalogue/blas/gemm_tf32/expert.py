"""What a good user of PyTorch would try for gemm_tf32."""
import torch


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def by_tma(function):
    """Compiled with Triton's persistent products, which load by TMA, among the candidates."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "triton.enable_persistent_tma_matmul": True,
    }
    return torch.compile(function, options=options, dynamic=False)


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


def alternatives(model, a, b):
    """{name: function}. Half precision has as many bits as TF32, but a smaller range."""
    import torch._inductor.config as inductor

    halves = compiled(lambda a, b: (a.half(), b.half()))

    def product(a, b):
        return torch.mm(a, b)

    def in_f16(a, b):
        return torch.mm(*halves(a, b), out_dtype=torch.float32)

    calls = {"TF32, mm": with_tf32(torch.mm)}
    if hasattr(torch.ops.aten.mm, "dtype"):
        calls["f16 copies, sums in single precision"] = in_f16
    if hasattr(torch.backends.cuda, "preferred_blas_library"):
        calls["TF32, cuBLASLt"] = with_tf32(by_cublaslt)
    if hasattr(inductor.triton, "enable_persistent_tma_matmul"):
        calls["TF32, compiled, mm by TMA"] = with_tf32(by_tma(product))
    return calls
