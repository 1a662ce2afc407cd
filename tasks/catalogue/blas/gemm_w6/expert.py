"""What a good user of PyTorch would try for gemm_w6."""
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
    """n x 4 quads signed integers, as int8."""
    first, second, third = w.to(torch.int32).reshape(w.shape[0], -1, 3).unbind(2)
    quads = first | second << 8 | third << 16
    fields = torch.stack([quads >> shift & 63 for shift in (0, 6, 12, 18)], dim=2).flatten(1)
    return ((fields ^ 32) - 32).to(torch.int8)


def by_columns(scale, k):
    """The scale of each column, in single precision."""
    return scale.float().repeat_interleave(GROUP, dim=1)[:, :k]


def in_groups(x, groups):
    """groups x rows x GROUP, with zeros behind the last column."""
    rows, k = x.shape
    return F.pad(x, (0, groups * GROUP - k)).view(rows, groups, GROUP).transpose(0, 1)


def sums_of_groups(exact, w_scale, finish):
    """A product of integers for each group, then a sum with the scales of the groups."""
    n, groups = w_scale.shape
    weights = in_groups(exact, groups).to(torch.float16).transpose(1, 2).contiguous()
    scales = w_scale.t().float().view(groups, 1, n)

    def add(each, x_scale):
        left = x_scale.t().float().unsqueeze(2)
        return (each * left * scales).sum(0).to(torch.float16)

    total = finish(add)

    def call(x, x_scale):
        left = in_groups(x, groups).to(torch.float16)
        return total(torch.bmm(left, weights, out_dtype=torch.float32), x_scale)

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
        for part, each, weight, scale in zip(left, x_scale.t().float(), weights, scales):
            product = torch._int_mm(part, weight.t())[:m, :n]
            sums = sums + product * each.unsqueeze(1) * scale
        return sums.to(torch.float16)

    return call


def of_scaled_weights(exact, w_scale, finish):
    """One product in f16; and one of operands in two parts, which leaves out low times low."""
    k = exact.shape[1]
    weights = exact * by_columns(w_scale, k)
    high = weights.to(torch.float16)
    low = (weights - high).to(torch.float16)
    once, three = high.t(), torch.cat([high, low, high], dim=1).t()

    def scale_once(x, x_scale):
        return (x * by_columns(x_scale, k)).to(torch.float16)

    def scale_in_parts(x, x_scale):
        wide = x * by_columns(x_scale, k)
        first = wide.to(torch.float16)
        return torch.cat([first, first, (wide - first).to(torch.float16)], dim=1)

    scaled, parts = finish(scale_once), finish(scale_in_parts)

    def single(x, x_scale):
        return torch.mm(scaled(x, x_scale), once)

    def in_parts(x, x_scale):
        product = torch.mm(parts(x, x_scale), three, out_dtype=torch.float32)
        return product.to(torch.float16)

    def in_f32(x, x_scale):
        return torch.mm(x * by_columns(x_scale, k), weights.t()).to(torch.float16)

    return {
        "f16 weights, prepared": single,
        "f16 operands in two parts, weights prepared": in_parts,
        "f32 weights, prepared": in_f32,
    }


def from_bytes(exact, w_scale):
    """Weights of 8 bits, which inductor may widen inside the product in f16."""
    k = exact.shape[1]
    scales = w_scale.contiguous()

    def call(x, x_scale):
        left = (x * by_columns(x_scale, k)).to(torch.float16)
        right = exact * scales.repeat_interleave(GROUP, dim=1)[:, :k]
        return torch.mm(left, right.t())

    return call


def alternatives(model, x, x_scale, w, w_scale):
    """{name: function}. w and w_scale are static."""
    has_compiler = hasattr(torch, "compile")
    finish = compiled if has_compiler else lambda function: function
    exact = integers(w)
    calls = of_scaled_weights(exact, w_scale, finish)
    calls["bmm of groups in f16"] = sums_of_groups(exact, w_scale, finish)
    calls["_int_mm of groups"] = integer_products(exact, w_scale)
    calls = {name: call for name, call in calls.items() if runs(call, x, x_scale)}
    if has_compiler:
        calls["compiled, 8-bit weights, prepared"] = compiled(from_bytes(exact, w_scale))
    return {
        name: lambda x, x_scale, w, w_scale, call=call: call(x, x_scale)
        for name, call in calls.items()
    }
