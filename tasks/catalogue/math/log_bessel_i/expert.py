"""What a good user of PyTorch would try for log_bessel_i."""
import math

import torch

TERMS = 24  # of the series, for orders and arguments below LARGE
LARGE = 16.0  # of sqrt(v^2 + z^2): from here on, four terms of the uniform expansion do
# Coefficients of the polynomials of Debye's expansion in p^2, divided by their denominators.
DEBYE = (
    (24, (3, -5)),
    (1152, (81, -462, 385)),
    (414720, (30375, -369603, 765765, -425425)),
    (39813120, (4465125, -94121676, 349922430, -446185740, 185910725)),
)


def compiled(function):
    """One kernel: its chain of operations is longer than inductor's usual limit."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "realize_reads_threshold": 64,
        "realize_opcount_threshold": 4000,
    }
    return torch.compile(function, options=options, dynamic=False)


def expansion(v, z):
    """The uniform expansion for large orders or arguments."""
    radius = torch.sqrt(v * v + z * z)
    inverse = 1 / radius
    square = (v * inverse).square()
    total, power = torch.zeros_like(v), inverse
    for denominator, coefficients in DEBYE:
        value = torch.zeros_like(v)
        for coefficient in reversed(coefficients):
            value = value * square + coefficient / denominator
        total = total + value * power
        power = power * inverse
    logarithm = v * torch.log(z / (v + radius))
    return radius + logarithm - 0.5 * torch.log(2 * math.pi * radius) + torch.log1p(total)


def series(v, z):
    quarter = 0.25 * z * z
    term, total = torch.ones_like(v), torch.ones_like(v)
    for k in range(1, TERMS + 1):
        term = term * quarter / (k * (v + k))
        total = total + term
    return v * torch.log(0.5 * z) - torch.lgamma(v + 1) + torch.log(total)


def by_regions(order, x):
    v, z = order.abs(), x.abs()
    small = torch.sqrt(v * v + z * z) < LARGE
    return torch.where(small, series(v, z), expansion(v, z))


def alternatives(model, order, x):
    """{name: function}. PyTorch has only orders 0 and 1, so this is a formula in PyTorch."""
    return {"compiled, series and uniform expansion": compiled(by_regions)}
