"""What a good user of PyTorch would try for lut_gemm."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def codes_of(w):
    """n x 2 half_k codes."""
    return torch.stack([w & 15, w >> 4], dim=2).flatten(1)


def shifted(x, w, table):
    """Codes by a shift, which inductor may fuse into the product."""
    shift = torch.arange(0, 8, 4, dtype=torch.uint8, device=w.device)
    codes = ((w.unsqueeze(2) >> shift) & 15).flatten(1)
    return F.linear(x, torch.gather(table, 1, codes.long()))


def stacked(x, w, table):
    return F.linear(x, torch.gather(table, 1, codes_of(w).long()))


def alternatives(model, x, w, table):
    """{name: function}. w and table are static."""
    codes = codes_of(w)
    weights = torch.gather(table, 1, codes.long())
    columns = weights.t().contiguous()

    def from_bytes(x, w, table):
        return F.linear(x, torch.gather(table, 1, codes.long()))

    def linear(x, w, table):
        return F.linear(x, weights)

    return {
        "f16 weights, prepared": linear,
        "f16 weights, prepared, columns": lambda x, w, table: torch.mm(x, columns),
        "compiled, f16 weights, prepared": compiled(linear),
        "lookup, then a product in f16": stacked,
        "compiled, codes as bytes, prepared": compiled(from_bytes),
        "compiled, codes by a shift": compiled(shifted),
        "compiled, lookup, then a product in f16": compiled(stacked),
    }
