"""What a good user of PyTorch would try for gemm_w4a8."""
import torch
import torch.nn.functional as F

GROUP = 128  # columns that share a scale


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def runs(call, *inputs):
    """Whether this version has the call, and a kernel for the shape."""
    try:
        call(*inputs)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return False
    return True


def integers(w):
    """n x 2 half_k signed integers, as int8."""
    nibbles = torch.stack([w & 15, w >> 4], dim=2).flatten(1).to(torch.int8)
    return (nibbles ^ 8) - 8


def rounded(sums, x_scale):
    return (sums * x_scale[:, None]).to(torch.float16)


def in_groups(x, groups):
    """groups x rows x GROUP, with zeros behind the last column."""
    rows, k = x.shape
    return F.pad(x, (0, groups * GROUP - k)).view(rows, groups, GROUP).transpose(0, 1)


def sums_of_groups(exact, w_scale, finish):
    """A product of integers for each group, then a sum with the scales of the groups."""
    n, groups = w_scale.shape
    weights = in_groups(exact, groups).to(torch.float16).transpose(1, 2).contiguous()
    scales = w_scale.t().float().view(groups, 1, n)
    add = finish(lambda each, x_scale: rounded((each * scales).sum(0), x_scale))

    def call(x, x_scale):
        left = in_groups(x, groups).to(torch.float16)
        return add(torch.bmm(left, weights, out_dtype=torch.float32), x_scale)

    return call


def integer_products(exact, w_scale):
    """_int_mm of each group; it takes more than 16 rows, and multiples of 8 of columns."""
    n, groups = w_scale.shape
    weights = [part.contiguous() for part in in_groups(F.pad(exact, (0, 0, 0, -n % 8)), groups)]
    scales = w_scale.t().float()

    def call(x, x_scale):
        m = x.shape[0]
        left = in_groups(F.pad(x, (0, 0, 0, max(0, 32 - m))), groups).contiguous()
        sums = 0
        for part, weight, scale in zip(left, weights, scales):
            sums = sums + torch._int_mm(part, weight.t())[:m, :n] * scale
        return rounded(sums, x_scale)

    return call


def products_in_f8(exact, w_scale):
    """x is 16 * high + low, and f8 holds both parts and a weight without an error."""
    n, groups = w_scale.shape
    f8 = torch.float8_e4m3fn
    more_n, more_k = -n % 16, groups * GROUP - exact.shape[1]
    once = F.pad(exact, (0, more_k, 0, more_n)).float()
    weights = torch.cat([once, once], dim=1).to(f8)
    scales = F.pad(w_scale.float(), (0, 0, 0, more_n)).t().repeat(2, 1).contiguous()

    def call(x, x_scale):
        wide = F.pad(x, (0, more_k))
        low = wide & 15
        halves = torch.cat([wide - low, low], dim=1).to(torch.bfloat16).to(f8)
        each = x_scale.expand(2 * groups, -1).contiguous().t()
        sums = torch._scaled_mm(
            halves, weights.t(), scale_a=each, scale_b=scales, out_dtype=torch.float32
        )
        return sums[:, :n].to(torch.float16)

    return call


def four_bit_product(w, w_scale):
    """PyTorch's 4-bit product: nibbles from 0 to 15, that of the even column is the high one."""
    n, groups = w_scale.shape
    wide = F.pad(w, (0, groups * GROUP // 2 - w.shape[1], 0, -n % 8)) ^ 0x88
    packed = torch._convert_weight_to_int4pack(((wide & 15) << 4) | (wide >> 4), 8)
    scales = torch.zeros(groups, len(wide), 2, dtype=torch.bfloat16, device=w.device)
    scales[:, :n, 0] = w_scale.t().to(torch.bfloat16)

    def call(x, x_scale):
        wide_x = F.pad(x.to(torch.bfloat16), (0, groups * GROUP - x.shape[1]))
        return rounded(torch._weight_int4pack_mm(wide_x, packed, GROUP, scales)[:, :n], x_scale)

    return call


def of_scaled_weights(exact, w_scale, finish):
    """One product in f16, and two whose weights keep all bits."""
    weights = exact * w_scale.float().repeat_interleave(GROUP, dim=1)[:, : exact.shape[1]]
    first = weights.to(torch.float16)
    both = torch.cat([first, (weights - first).to(torch.float16)], dim=1).t()
    once = first.t()
    scaled = finish(rounded)

    def single(x, x_scale):
        return scaled(torch.mm(x.to(torch.float16), once, out_dtype=torch.float32), x_scale)

    def two_parts(x, x_scale):
        half = x.to(torch.float16)
        product = torch.mm(torch.cat([half, half], dim=1), both, out_dtype=torch.float32)
        return scaled(product, x_scale)

    def in_f32(x, x_scale):
        return rounded(torch.mm(x.float(), weights.t()), x_scale)

    return {
        "f16 weights, prepared": single,
        "f16 weights in two parts, prepared": two_parts,
        "f32 weights, prepared": in_f32,
    }


def alternatives(model, x, x_scale, w, w_scale):
    """{name: function}. w and w_scale are static."""
    has_compiler = hasattr(torch, "compile")
    finish = compiled if has_compiler else lambda function: function
    exact = integers(w)
    calls = of_scaled_weights(exact, w_scale, finish)
    calls["bmm of groups in f16"] = sums_of_groups(exact, w_scale, finish)
    calls["_int_mm of groups"] = integer_products(exact, w_scale)
    if hasattr(torch, "float8_e4m3fn"):
        calls["_scaled_mm of two f8 parts, scales of blocks"] = products_in_f8(exact, w_scale)
    if hasattr(torch, "_convert_weight_to_int4pack") and runs(four_bit_product, w, w_scale):
        calls["4-bit product in bf16, packed weights"] = four_bit_product(w, w_scale)
    calls = {name: call for name, call in calls.items() if runs(call, x, x_scale)}
    if has_compiler and "_int_mm of groups" in calls:
        calls["compiled, _int_mm of groups"] = compiled(integer_products(exact, w_scale))
    return {
        name: lambda x, x_scale, w, w_scale, call=call: call(x, x_scale)
        for name, call in calls.items()
    }
