"""What a good user of PyTorch would try for moe_grouped_gemm_mxfp4. F.scaled_grouped_mm takes no
bfloat16 activations."""
import torch
import torch.nn.functional as F

SIZES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def unpacked(w, scale):
    """The weights in bfloat16, which is exact; w has any dimensions before its bytes."""
    floats = torch.tensor(SIZES + [-size for size in SIZES], dtype=torch.bfloat16, device=w.device)
    nibbles = torch.stack([w & 15, w >> 4], dim=-1).flatten(-2)
    powers = torch.exp2(scale.float() - 127).to(torch.bfloat16).repeat_interleave(32, dim=-1)
    return floats[nibbles.long()] * powers


def padded(weights):
    """Rows of y are multiples of 16 bytes then, as the grouped product wants them."""
    more_n = -weights.shape[1] % 8
    return F.pad(weights, (0, 0, 0, more_n)) if more_n else weights


def grouped(x, weights, offsets, n):
    y = torch._grouped_mm(x, weights.transpose(1, 2), offs=offsets[1:])
    return y if y.shape[1] == n else y[:, :n].contiguous()


def alternatives(model, x, w, scale, offsets):
    """{name: function}. w and scale are static."""
    n = w.shape[1]
    # an expert at a time: the lookup needs eight bytes a weight
    weights = torch.stack([unpacked(w[e], scale[e]) for e in range(w.shape[0])])
    wide = padded(weights)

    def prepared(x, w, scale, offsets):
        return grouped(x, wide, offsets, n)

    def lookup(x, w, scale, offsets):
        return grouped(x, padded(unpacked(w, scale)), offsets, n)

    def one_by_one(x, w, scale, offsets):
        y = x.new_empty(x.shape[0], n)
        ends = offsets.tolist()
        for e in range(len(ends) - 1):
            if ends[e] < ends[e + 1]:
                rows = slice(ends[e], ends[e + 1])
                torch.mm(x[rows], weights[e].t(), out=y[rows])
        return y

    calls = {"bf16 weights, prepared, a product for each expert": one_by_one}
    if hasattr(torch, "_grouped_mm"):
        calls["bf16 weights, prepared, _grouped_mm"] = prepared
        calls["compiled, bf16 weights, prepared, _grouped_mm"] = compiled(prepared)
        calls["compiled, lookup, then _grouped_mm"] = compiled(lookup)
    return calls
