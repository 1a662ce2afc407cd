"""What a good user of PyTorch would try for neighborhood_attention."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def neighbours(h, w, radius):
    """The mask: whether a key is in the window of a query; both are y * w + x."""
    side = 2 * radius + 1
    last_row, last_column = max(0, h - side), max(0, w - side)

    def near(batch, head, query, key):
        y0 = (query // w - radius).clamp(0, last_row)
        x0 = (query % w - radius).clamp(0, last_column)
        y, x = key // w, key % w
        return (y >= y0) & (y < y0 + side) & (x >= x0) & (x < x0 + side)

    return near


def runs(call, *inputs):
    """Whether this version has a kernel for the shape."""
    try:
        call(*inputs)
    except RuntimeError:
        return False
    return True


def flex(scale, mask, **arguments):
    """flex_attention over pixels in rows, planes as heads, compiled."""

    def call(q, k, v):
        flat = [x.flatten(1, 2).unsqueeze(0) for x in (q, k, v)]
        return flex_attention(*flat, scale=scale, block_mask=mask).reshape(q.shape)

    return torch.compile(call, dynamic=False, **arguments)


def alternatives(model, q, k, v):
    """{name: function}. The masks depend on the shape only."""
    planes, h, w, d = q.shape
    s = h * w
    scale = model.scale / d**0.5
    near = neighbours(h, w, model.radius)
    place = torch.arange(s, device=q.device)
    dense = near(0, 0, place[:, None], place[None, :])

    def masked(q, k, v):
        flat = [x.flatten(1, 2).unsqueeze(0) for x in (q, k, v)]
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            out = F.scaled_dot_product_attention(*flat, attn_mask=dense, scale=scale)
        return out.reshape(q.shape)

    def mask(block):
        return create_block_mask(near, None, None, s, s, device=q.device, BLOCK_SIZE=block)

    tuned, blocks = {"mode": "max-autotune-no-cudagraphs"}, mask(128)
    calls = {
        "flex_attention, blocks of 128": flex(scale, blocks),
        "flex_attention, blocks of 128, tuned": flex(scale, blocks, **tuned),
        "flex_attention, blocks of 64, tuned": flex(scale, mask(64), **tuned),
    }
    if runs(masked, q, k, v):
        calls["memory-efficient attention, dense mask"] = masked
    return calls
