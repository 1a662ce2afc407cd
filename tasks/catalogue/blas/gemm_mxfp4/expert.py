"""What a good user of PyTorch would try for gemm_mxfp4. F.scaled_mm takes no bfloat16 activations."""
import torch
import torch.nn.functional as F

SIZES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def nibbles_of(w):
    """n x k codes."""
    return torch.stack([w & 15, w >> 4], dim=2).flatten(1)


def powers_of(scale):
    """n x k powers of two; all are exact in bfloat16."""
    return torch.exp2(scale.float() - 127).to(torch.bfloat16).repeat_interleave(32, dim=1)


def looked_up(w, scale):
    floats = torch.tensor(SIZES + [-size for size in SIZES], dtype=torch.bfloat16, device=w.device)
    return floats[nibbles_of(w).long()] * powers_of(scale)


def by_bits(w, scale):
    """The bits of a 4-bit float as those of a bfloat16, by a shift that inductor may fuse."""
    shift = torch.arange(0, 8, 4, dtype=torch.uint8, device=w.device)
    codes = ((w.unsqueeze(2) >> shift) & 15).flatten(1)
    size = ((codes & 7).to(torch.int16) << 6).view(torch.bfloat16) * 2.0**63  # 2^-63 of the float
    power = torch.exp2(scale.float() - 64).to(torch.bfloat16).repeat_interleave(32, dim=1)
    return torch.where(codes > 7, -size, size) * power


def alternatives(model, x, w, scale):
    """{name: function}. w and scale are static."""
    weights = looked_up(w, scale)
    columns = weights.t().contiguous()
    floats = torch.tensor(SIZES + [-size for size in SIZES], device=w.device)
    twice = (2 * floats[nibbles_of(w).long()]).to(torch.int8)
    halves = powers_of(scale) / 2

    def linear(x, w, scale):
        return F.linear(x, weights)

    def widened(x, w, scale):
        return F.linear(x, twice.to(torch.bfloat16) * halves)

    def unpacked(x, w, scale):
        return F.linear(x, looked_up(w, scale))

    def bits(x, w, scale):
        return F.linear(x, by_bits(w, scale))

    return {
        "bf16 weights, prepared": linear,
        "bf16 weights, prepared, columns": lambda x, w, scale: torch.mm(x, columns),
        "compiled, bf16 weights, prepared": compiled(linear),
        "compiled, int8 weights, prepared": compiled(widened),
        "lookup, then a product in bf16": unpacked,
        "compiled, lookup, then a product in bf16": compiled(unpacked),
        "compiled, bits of a bf16, then a product": compiled(bits),
    }
