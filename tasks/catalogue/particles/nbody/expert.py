"""What a good user of PyTorch would try for nbody."""
import torch


def in_one_kernel(function):
    """Compiled so that no tensor of all pairs is written to memory."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "realize_reads_threshold": 64,
        "realize_opcount_threshold": 1000,
        "realize_acc_reads_threshold": 64,
    }
    return torch.compile(function, options=options, dynamic=False)


def alternatives(model, active, source, mass):
    """{name: function}. PyTorch has no call for this; a sum over pairs compiles well."""
    softening = model.softening

    def all_pairs(active, source, mass):
        x, y, z = (source[:, i] - active[:, i : i + 1] for i in range(3))
        inverse = torch.rsqrt(x * x + y * y + z * z + softening)
        factor = mass * inverse * inverse * inverse
        return torch.stack([(factor * d).sum(dim=1) for d in (x, y, z)], dim=1)

    return {"compiled, sums over all pairs": in_one_kernel(all_pairs)}
