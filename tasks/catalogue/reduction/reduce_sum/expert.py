"""What a good user of PyTorch would try for reduce_sum."""
import torch

SIDE = 4096  # columns of the vector seen as a matrix


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def cooperative(function):
    """Compiled with sums for which all blocks work together in one kernel."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "triton.cooperative_reductions": True,
    }
    return torch.compile(function, options=options, dynamic=False)


def alternatives(model, x):
    """{name: function}."""
    import torch._inductor.config as inductor

    whole = len(x) // SIDE * SIDE
    ones, all_ones = x.new_ones(SIDE), torch.ones_like(x)

    def total(x):
        return torch.sum(x).reshape(1)

    def two_levels(x):
        rest = x[whole:].sum()
        return (x[:whole].view(-1, SIDE).sum(dim=1).sum() + rest).reshape(1)

    def by_mv(x):
        rest = x[whole:].sum()
        return (torch.mv(x[:whole].view(-1, SIDE), ones).sum() + rest).reshape(1)

    calls = {
        "sums of rows, then their sum": two_levels,
        "mv with ones, then a sum": by_mv,
        "dot with ones": lambda x: torch.dot(x, all_ones).reshape(1),
        "compiled, sums of rows, then their sum": compiled(two_levels),
    }
    if hasattr(inductor.triton, "cooperative_reductions"):
        calls["compiled, cooperative sum"] = cooperative(total)
    return calls
