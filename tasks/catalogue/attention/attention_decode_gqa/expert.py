"""What a good user of PyTorch would try for attention_decode_gqa."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import flex_attention

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
    except (RuntimeError, TypeError):
        return False
    return True


def group_as_sequence(backend, scale):
    """The queries of a group stand for a sequence of queries: keys pass through once."""

    def call(q, k, v):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, scale=scale).contiguous()

    return call


def one_query_a_head(backend, scale):
    """Heads of one query, of which a group shares keys."""

    def call(q, k, v):
        heads = q.reshape(q.shape[0], -1, 1, q.shape[3])
        with sdpa_kernel(backend):
            out = F.scaled_dot_product_attention(heads, k, v, scale=scale, enable_gqa=True)
        return out.reshape(q.shape)

    return call


def flexible(scale):
    """flex_attention, which splits the keys for few queries."""

    def as_sequence(q, k, v):
        return flex_attention(q, k, v, scale=scale).contiguous()

    def a_head(q, k, v):
        heads = q.reshape(q.shape[0], -1, 1, q.shape[3])
        return flex_attention(heads, k, v, scale=scale, enable_gqa=True).reshape(q.shape)

    return {
        "flex_attention, group as sequence": compiled(as_sequence),
        "flex_attention, one query a head": compiled(a_head),
    }


def products(scale):
    """Two batches of products with scores in single precision."""

    def softmax(scores):
        return torch.softmax(scores * scale, dim=-1).to(torch.bfloat16)

    weights = compiled(softmax)

    def call(q, k, v):
        keys = k.flatten(0, 1).transpose(1, 2)
        scores = torch.bmm(q.flatten(0, 1), keys, out_dtype=torch.float32)
        return torch.bmm(weights(scores), v.flatten(0, 1)).view(q.shape)

    return call


def alternatives(model, q, k, v):
    """{name: function}."""
    scale = model.scale / q.shape[-1] ** 0.5
    calls = {"bmm with scores in single precision": products(scale)}
    for name, backend in BACKENDS.items():
        if hasattr(SDPBackend, backend):
            backend = getattr(SDPBackend, backend)
            calls[f"{name}, group as sequence"] = group_as_sequence(backend, scale)
            calls[f"{name}, one query a head"] = one_query_a_head(backend, scale)
    calls = {name: call for name, call in calls.items() if runs(call, q, k, v)}
    return calls | flexible(scale)
