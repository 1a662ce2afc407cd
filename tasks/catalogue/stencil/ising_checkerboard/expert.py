"""What a good user of PyTorch would try for ising_checkerboard."""
import torch
import torch.nn.functional as F


def signed(number):
    """The 32-bit integer that has the low 32 bits of the number."""
    return (number + 2**31) % 2**32 - 2**31


SITE, A, B = signed(0x9E3779B1), signed(0x85EBCA6B), signed(0xC2B2AE35)


def compiled(function):
    """One kernel for all sites of a colour: its chain is longer than inductor's usual limit."""
    options = {
        "max_autotune": True,
        "coordinate_descent_tuning": True,
        "realize_reads_threshold": 64,
        "realize_opcount_threshold": 1000,
    }
    return torch.compile(function, options=options, dynamic=False)


def shift_right(r, count):
    """Of unsigned numbers."""
    return (r >> count) & (2 ** (32 - count) - 1)


def half_sweep(colour):
    """Updates the sites of a colour; products of 32-bit integers wrap."""

    def call(spins, accept, rows, columns, key):
        h, w = spins.shape
        i = torch.arange(h, dtype=torch.int32, device=spins.device).unsqueeze(1)
        j = torch.arange(w, dtype=torch.int32, device=spins.device)
        r = rows + columns + key
        r = (r ^ shift_right(r, 16)) * A
        r = (r ^ shift_right(r, 13)) * B
        r = shift_right(r ^ shift_right(r, 16), 1)
        spin = spins.to(torch.int32)
        around = F.pad(2 * spin - 1, (1, 1, 1, 1))
        total = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        flips = r < accept[9 * spin + total + 4]
        return torch.where(((i + j) % 2 == colour) & flips, 1 - spin, spin).to(spins.dtype)

    return call


def alternatives(model, spins, accept):
    """{name: function}. PyTorch has no call for this, so this is a formula in PyTorch."""
    h, w = spins.shape
    kind = {"dtype": torch.int32, "device": spins.device}
    # The argument of the hash, in three parts: products wrap here, so inductor sees only sums.
    rows = (torch.arange(h, **kind) * w * SITE).unsqueeze(1)
    columns = torch.arange(w, **kind) * SITE
    numbers = [(t + model.seed * 65536) * 0x85EBCA77 for t in range(2 * model.sweeps)]
    keys = [torch.tensor(signed(number), **kind) for number in numbers]
    halves = [compiled(half_sweep(colour)) for colour in range(2)]

    def sweeps(spins, accept):
        for t, key in enumerate(keys):
            spins = halves[t % 2](spins, accept, rows, columns, key)
        return spins

    return {"compiled half sweeps in 32-bit arithmetic": sweeps}
