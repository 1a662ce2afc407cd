"""What a good user of PyTorch would try for gemm_w4."""
import torch
import torch.nn.functional as F

GROUP = 128  # columns that share a scale in PyTorch's 4-bit product


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def runs(call, *inputs):
    """Whether this version has the call."""
    try:
        call(*inputs)
    except (AttributeError, RuntimeError, TypeError):
        return False
    return True


def integers(w):
    """n x 2 half_k signed integers, as int8."""
    nibbles = torch.stack([w & 15, w >> 4], dim=2).flatten(1).to(torch.int8)
    return (nibbles ^ 8) - 8


def four_bit_product(w, scale):
    """PyTorch's 4-bit product: nibbles from 0 to 15, that of the even column is the high one."""
    n, half_k = w.shape
    more_n, more_bytes = -n % 8, -half_k % (GROUP // 2)
    wide = F.pad(w, (0, more_bytes, 0, more_n)) ^ 0x88
    packed = torch._convert_weight_to_int4pack(((wide & 15) << 4) | (wide >> 4), 8)
    groups = 2 * wide.shape[1] // GROUP
    scales = torch.zeros(groups, n + more_n, 2, dtype=torch.bfloat16, device=w.device)
    scales[:, :n, 0] = scale.to(torch.bfloat16)

    def call(x):
        x = F.pad(x, (0, 2 * more_bytes)) if more_bytes else x
        return torch._weight_int4pack_mm(x, packed, GROUP, scales)[:, :n].contiguous()

    return call


def prepared(w, scale):
    """Calls with weights of more bits, which are prepared."""
    exact = integers(w)
    whole = exact.to(torch.bfloat16)
    scaled = (exact.float() * scale[:, None]).to(torch.bfloat16)
    in_bf16 = scale.to(torch.bfloat16)
    round_once = compiled(lambda y: (y * scale).to(torch.bfloat16))

    def single(x):
        return round_once(torch.mm(x, whole.t(), out_dtype=torch.float32))

    def widened(x):
        y = torch.mm(x, exact.to(torch.bfloat16).t()).float() * scale
        return y.to(torch.bfloat16)

    calls = {
        "bf16 weights, prepared": lambda x: F.linear(x, scaled),
        "bf16 weights, prepared, scales after": single,
        "compiled, int8 weights, prepared": compiled(widened),
    }
    if hasattr(torch, "_weight_int8pack_mm"):
        calls["8-bit product, weights prepared"] = lambda x: torch._weight_int8pack_mm(
            x, exact, in_bf16
        )
    return calls


def unpacked(x, w, scale):
    """Nibbles by a shift, which inductor may fuse into the product."""
    shift = torch.arange(0, 8, 4, dtype=torch.uint8, device=w.device)
    nibbles = ((w.unsqueeze(2) >> shift) & 15).to(torch.int8).flatten(1)
    weights = ((nibbles ^ 8) - 8).to(torch.bfloat16)
    return (torch.mm(x, weights.t()).float() * scale).to(torch.bfloat16)


def scaled_first(x, w, scale):
    return F.linear(x, (integers(w).float() * scale[:, None]).to(torch.bfloat16))


def alternatives(model, x, w, scale):
    """{name: function}. w and scale are static."""
    calls = prepared(w, scale)
    if hasattr(torch, "_weight_int4pack_mm") and hasattr(torch, "_convert_weight_to_int4pack"):
        plain = four_bit_product(w, torch.ones_like(scale))
        after = compiled(lambda y: (y.float() * scale).to(torch.bfloat16))
        calls["4-bit product, packed weights"] = four_bit_product(w, scale)
        calls["4-bit product, packed weights, scales after"] = lambda x: after(plain(x))
    calls = {name: call for name, call in calls.items() if runs(call, x)}
    calls = {name: lambda x, w, scale, call=call: call(x) for name, call in calls.items()}
    calls["compiled, nibbles by a shift"] = compiled(unpacked)
    calls["compiled, scaled weights in bf16"] = compiled(scaled_first)
    return calls
