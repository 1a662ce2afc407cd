"""What a good user of PyTorch would try for gemm_bias_gelu."""
import torch
import torch.nn.functional as F


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


def aligned(function, w, bias):
    """function(x, w, bias) of a copy whose rows are multiples of 16 bytes."""
    k, n = w.shape
    wide = F.pad(w, (0, -n % 8, 0, -k % 8))
    more = F.pad(bias, (0, -n % 8))

    def call(x):
        return function(F.pad(x, (0, -k % 8)), wide, more)[:, :n].contiguous()

    return call


def apart(x, w, bias):
    return F.gelu(torch.addmm(bias, x, w))


def formula(x, w, bias):
    """Inductor may apply the last operations to the sums of a product, before they are rounded."""
    return F.gelu(torch.mm(x, w).float() + bias.float()).half()


def by_tanh(x, w, bias):
    return torch._addmm_activation(bias, x, w, use_gelu=True)


def alternatives(model, x, w, bias):
    """{name: function}. w and bias are static."""
    import torch._inductor.config as inductor

    rows = w.t().contiguous()
    finish = compiled(lambda sums: F.gelu(sums + bias.float()).half())

    def round_once(x):
        return finish(torch.mm(x, w, out_dtype=torch.float32))

    calls = {
        "addmm, then gelu": lambda x: apart(x, w, bias),
        "linear, weights by rows, then gelu": lambda x: F.gelu(F.linear(x, rows, bias)),
        "compiled, mm in f16": compiled(lambda x: formula(x, w, bias)),
        "compiled, mm in f16, weights by rows": compiled(lambda x: formula(x, rows.t(), bias)),
    }
    if hasattr(torch.ops.aten.mm, "dtype"):
        calls["mm to single precision, bias and gelu compiled"] = round_once
    if hasattr(torch, "_addmm_activation"):
        calls["cuBLASLt epilogue, GELU by tanh"] = lambda x: by_tanh(x, w, bias)
    if hasattr(inductor.triton, "enable_persistent_tma_matmul"):
        calls["compiled, mm by TMA"] = by_tma(lambda x: formula(x, w, bias))
    if w.shape[0] % 8 or w.shape[1] % 8:
        calls["addmm of aligned copies, then gelu"] = aligned(apart, w, bias)
        calls["compiled, mm of aligned copies"] = compiled(aligned(formula, w, bias))
    return {name: lambda x, w, bias, call=call: call(x) for name, call in calls.items()}
