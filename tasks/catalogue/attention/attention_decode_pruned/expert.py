"""What a good user of PyTorch would try for attention_decode_pruned."""
import torch
import torch.nn.functional as F

BACKENDS = {
    "cuDNN attention": "CUDNN_ATTENTION",
    "flash attention": "FLASH_ATTENTION",
    "memory-efficient attention": "EFFICIENT_ATTENTION",
}


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def runs(call, *inputs):
    """Whether this version has a kernel for the shape."""
    try:
        call(*inputs)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return False
    return True


def gathered(stored, rank, values):
    """All elements of each row; `rank` counts the stored ones before an element."""
    room = values.shape[-1]
    found = torch.gather(values, -1, rank.clamp(0, room - 1).long())
    return torch.where(stored & (rank < room), found, torch.zeros_like(found))


class Unpack:
    """Ways to the dense keys or values."""

    def __init__(self, d, device):
        self.d = d
        bits = torch.arange(256, device=device).unsqueeze(1) >> torch.arange(8, device=device) & 1
        self.shifts = torch.arange(8, dtype=torch.uint8, device=device)
        self.count = bits.sum(1).int()
        self.rank = (bits.cumsum(1) - bits).int()

    def by_sums(self, mask, values):
        """Sums over the bits of a row."""
        bits = ((mask.unsqueeze(-1) >> self.shifts) & 1).flatten(-2)[..., : self.d].int()
        return gathered(bits != 0, bits.cumsum(-1, dtype=torch.int32) - bits, values)

    def by_tables(self, mask, values):
        """Tables of the bits of a byte, and sums over the bytes of a row."""
        byte = mask.int().flatten()
        count = self.count.index_select(0, byte).view(mask.shape)
        before = count.cumsum(-1, dtype=torch.int32) - count
        rank = self.rank.index_select(0, byte).view(*mask.shape, 8) + before.unsqueeze(-1)
        bits = (mask.unsqueeze(-1) >> self.shifts) & 1
        stored, rank = (x.flatten(-2)[..., : self.d] for x in (bits != 0, rank))
        return gathered(stored, rank, values)


def products(scale):
    """Two batches of products, in single precision between them."""

    def call(q, k, v):
        scores = scale * torch.matmul(q, k.transpose(-2, -1)).float()
        return torch.matmul(torch.softmax(scores, dim=-1).to(q.dtype), v)

    return call


def exact_products(scale):
    """Scores are not rounded."""

    def call(q, k, v):
        keys = k.flatten(0, 1).transpose(1, 2)
        scores = scale * torch.bmm(q.flatten(0, 1), keys, out_dtype=torch.float32)
        return torch.bmm(torch.softmax(scores, dim=-1).to(q.dtype), v.flatten(0, 1)).view(q.shape)

    return call


def wide_products(scale):
    def call(q, k, v):
        scores = scale * torch.matmul(q.float(), k.float().transpose(-2, -1))
        return torch.matmul(torch.softmax(scores, dim=-1), v.float()).to(q.dtype)

    return call


def attentions(scale):
    """The queries of a group stand for a sequence of queries: keys pass through once."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return {}

    def attention(backend):
        def call(q, k, v):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, scale=scale).contiguous()

        return call

    return {
        name: attention(getattr(SDPBackend, backend))
        for name, backend in BACKENDS.items()
        if hasattr(SDPBackend, backend)
    }


def flexible(scale):
    """flex_attention, which splits the keys for few queries."""
    try:
        from torch.nn.attention.flex_attention import flex_attention
    except ImportError:
        return {}
    return {"flex_attention": lambda q, k, v: flex_attention(q, k, v, scale=scale).contiguous()}


def behind(unpack, attend):
    """attend(q, k, v) of the cache that unpack makes dense."""

    def call(q, k_mask, k_values, v_mask, v_values):
        return attend(q, unpack(k_mask, k_values), unpack(v_mask, v_values))

    return call


def alternatives(model, q, k_mask, k_values, v_mask, v_values):
    """{name: function}. Every launch has another cache: it is made dense each time."""
    scale = model.scale / q.shape[-1] ** 0.5
    ways = Unpack(q.shape[-1], q.device)
    inputs = (q, k_mask, k_values, v_mask, v_values)
    plain = {
        "scores in bf16": products(scale),
        "scores in single precision": exact_products(scale),
        "all in single precision": wide_products(scale),
        **attentions(scale),
    }
    calls = {f"unpack by tables, {name}": behind(ways.by_tables, f) for name, f in plain.items()}
    calls = {name: call for name, call in calls.items() if runs(call, *inputs)}
    if not hasattr(torch, "compile"):
        return calls
    fast = compiled(ways.by_tables)
    usable = [name for name in plain if f"unpack by tables, {name}" in calls]
    for name in usable:
        calls[f"unpack by tables, compiled, {name}"] = behind(fast, plain[name])
    whole = {name: plain[name] for name in ("scores in bf16", "all in single precision")}
    for name, attend in {**whole, **flexible(scale)}.items():
        calls[f"all compiled, unpack by tables, {name}"] = compiled(behind(ways.by_tables, attend))
        calls[f"all compiled, unpack by sums, {name}"] = compiled(behind(ways.by_sums, attend))
    return calls
