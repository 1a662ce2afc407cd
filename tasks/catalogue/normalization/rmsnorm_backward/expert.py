"""What a good user of PyTorch would try for rmsnorm_backward."""
import torch

aten = torch.ops.aten


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def mixed(function):
    """Compiled with kernels that sum along rows and columns among the candidates."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "triton.mix_order_reduction": True,
    }
    return torch.compile(function, options=options, dynamic=False)


def column_sums(x, parts):
    """Sums over rows, in two levels for more than one part."""
    return x.sum(0) if parts == 1 else x.view(parts, -1, x.shape[1]).sum(1).sum(0)


def formula(eps, parts):
    def call(x, weight, dy):
        rstd = torch.rsqrt(x.square().mean(dim=1, keepdim=True) + eps)
        h, g = x * rstd, dy * weight
        dx = rstd * (g - h * (g * h).mean(dim=1, keepdim=True))
        return dx, column_sums(dy * h, parts)

    return call


def fused(eps, size):
    """PyTorch's own backward call, with two ways to get the factors of the rows."""

    def backward(x, weight, dy, rstd):
        return aten._fused_rms_norm_backward(dy, x, size, rstd, weight, [True, True])

    def factors(x):
        return torch.rsqrt(x.square().mean(dim=1, keepdim=True) + eps)

    fast_factors = compiled(factors)
    return {
        "_fused_rms_norm and its backward call": lambda x, weight, dy: backward(
            x, weight, dy, aten._fused_rms_norm(x, size, weight, eps)[1]
        ),
        "compiled factors, then _fused_rms_norm_backward": lambda x, weight, dy: backward(
            x, weight, dy, fast_factors(x)
        ),
    }


def alternatives(model, x, weight, dy):
    """{name: function}."""
    import torch._inductor.config as inductor

    eps = model.eps
    parts = max(parts for parts in range(1, 257) if x.shape[0] % parts == 0)
    calls = {"compiled, formula": compiled(formula(eps, 1))}
    if hasattr(aten, "_fused_rms_norm_backward"):
        calls |= fused(eps, [x.shape[1]])
    if hasattr(inductor.triton, "mix_order_reduction"):
        calls["compiled, formula, mixed sums"] = mixed(formula(eps, 1))
    if parts > 1:
        calls["compiled, formula, sums over rows in two levels"] = compiled(formula(eps, parts))
    return calls
