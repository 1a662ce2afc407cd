"""What a good user of PyTorch would try for conjugate_gradient."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def quotient(a, b):
    return torch.where(b != 0, a / b, torch.zeros_like(a))


def shifted(shift):
    """A u as sums of shifted grids."""

    def product(u):
        padded = F.pad(u, (1, 1, 1, 1))
        around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        return (4 + shift) * u - around

    return product


def convolved(shift, b):
    """A u as a convolution."""
    cross = [[0, -1, 0], [-1, 4 + shift, -1], [0, -1, 0]]
    kernel = torch.tensor([[cross]], dtype=b.dtype, device=b.device)
    return lambda u: F.conv2d(u[None, None], kernel, padding=1)[0, 0]


def solver(product, steps):
    """Steps that call the library for each vector."""

    def call(b):
        x, r, p = torch.zeros_like(b), b.clone(), b.clone()
        rr = torch.dot(r.view(-1), r.view(-1))
        for _ in range(steps):
            q = product(p)
            alpha = quotient(rr, torch.dot(p.view(-1), q.reshape(-1)))
            x.addcmul_(p, alpha)
            r.addcmul_(q, -alpha)
            rest = torch.dot(r.view(-1), r.view(-1))
            p = torch.addcmul(r, p, quotient(rest, rr))
            rr = rest
        return x

    return call


def fused_solver(product, steps):
    """Three compiled passes a step."""

    def begin(b):
        return torch.zeros_like(b), (b * b).sum()

    def first(p, rr):
        q = product(p)
        return q, quotient(rr, (p * q).sum())

    def second(x, r, p, q, alpha):
        r = r - alpha * q
        return x + alpha * p, r, (r * r).sum()

    def third(r, p, rest, rr):
        return r + quotient(rest, rr) * p

    begin, first, second, third = (compiled(part) for part in (begin, first, second, third))

    def call(b):
        (x, rr), r, p = begin(b), b, b
        for _ in range(steps):
            q, alpha = first(p, rr)
            x, r, rest = second(x, r, p, q, alpha)
            p, rr = third(r, p, rest, rr), rest
        return x

    return call


def alternatives(model, b):
    """{name: function}."""
    shift, steps = model.shift, model.steps
    torch.backends.cudnn.benchmark = True
    return {
        "conv2d, dot and updates in place": solver(convolved(shift, b), steps),
        "compiled product, dot and updates in place": solver(compiled(shifted(shift)), steps),
        "compiled in three passes a step": fused_solver(shifted(shift), steps),
    }
