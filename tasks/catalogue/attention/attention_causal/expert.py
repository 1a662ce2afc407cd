"""What a good user of PyTorch would try for attention_causal."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

BACKENDS = {
    "cuDNN attention": "CUDNN_ATTENTION",
    "flash attention": "FLASH_ATTENTION",
    "memory-efficient attention": "EFFICIENT_ATTENTION",
}


def runs(call, *inputs):
    """Whether this version has a kernel for the shape."""
    try:
        call(*inputs)
    except RuntimeError:
        return False
    return True


def flex(scale, mask, **arguments):
    """flex_attention, compiled."""

    def call(q, k, v):
        return flex_attention(q, k, v, scale=scale, block_mask=mask).contiguous()

    return torch.compile(call, dynamic=False, **arguments)


def alternatives(model, q, k, v):
    """{name: function}."""
    s = q.shape[-2]
    scale = model.scale / q.shape[-1] ** 0.5

    def attention(backend):
        def call(q, k, v):
            with sdpa_kernel(backend):
                out = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
            return out.contiguous()

        return call

    calls = {
        name: attention(getattr(SDPBackend, backend))
        for name, backend in BACKENDS.items()
        if hasattr(SDPBackend, backend)
    }
    calls = {name: call for name, call in calls.items() if runs(call, q, k, v)}
    mask = create_block_mask(
        lambda batch, head, query, key: query >= key, None, None, s, s, device=q.device
    )
    calls["flex_attention"] = flex(scale, mask)
    calls["flex_attention, tuned"] = flex(scale, mask, mode="max-autotune-no-cudagraphs")
    return calls
