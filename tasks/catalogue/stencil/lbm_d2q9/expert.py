"""What a good user of PyTorch would try for lbm_d2q9."""
import torch

VELOCITY = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))
WEIGHT = (4 / 9, *4 * (1 / 9,), *4 * (1 / 36,))


def in_one_kernel(function):
    """Compiled so that densities and velocities are not written to memory."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "realize_reads_threshold": 256,
        "realize_opcount_threshold": 4000,
        "realize_acc_reads_threshold": 256,
    }
    return torch.compile(function, options=options, dynamic=False)


def total(terms):
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def alternatives(model, f):
    """{name: function}. PyTorch has no call for this; sums written out compile better."""
    omega = model.omega

    def step(f):
        g = [torch.roll(f[q], (y, x), dims=(0, 1)) for q, (x, y) in enumerate(VELOCITY)]
        rho = total(g)
        ux = (g[1] - g[3] + g[5] - g[6] - g[7] + g[8]) / rho
        uy = (g[2] - g[4] + g[5] + g[6] - g[7] - g[8]) / rho
        rest = 1 - 1.5 * (ux * ux + uy * uy)
        after = []
        for population, weight, (x, y) in zip(g, WEIGHT, VELOCITY):
            along = x * ux + y * uy
            value = weight * rho * (rest + 3 * along + 4.5 * along * along)
            after.append(population + omega * (value - population))
        return torch.stack(after)

    return {"compiled, sums written out": in_one_kernel(step)}
