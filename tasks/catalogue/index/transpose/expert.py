"""What a good user of PyTorch would try for transpose."""
import torch


def tiled(function):
    """Compiled with tiles in two dimensions among the candidates."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "triton.prefer_nd_tiling": True,
    }
    return torch.compile(function, options=options, dynamic=False)


def alternatives(model, x):
    """{name: function}; forward() is the usual call."""
    import torch._inductor.config as inductor

    def transposed(x):
        return x.t().contiguous()

    calls = {"transpose_copy": lambda x: torch.transpose_copy(x, 0, 1)}
    if not hasattr(torch, "transpose_copy"):
        calls = {}
    if hasattr(inductor.triton, "prefer_nd_tiling"):
        calls["compiled, tiles in two dimensions"] = tiled(transposed)
    return calls
