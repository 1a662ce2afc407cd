"""What a good user of PyTorch would try for linear_attention_gated."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def runs(call, *inputs):
    """Whether this version has a kernel for the shape."""
    try:
        call(*inputs)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return False
    return True


def gates(decay, input, length):
    """For each pair of positions the input gate, and all forget gates between them."""
    later = torch.ones(length, length, dtype=torch.bool, device=decay.device).triu(1)
    between = decay.unsqueeze(-1) - decay.unsqueeze(-2)
    between = between.masked_fill(later, float("-inf"))
    return torch.exp(between) * torch.sigmoid(input).unsqueeze(-2)


def of_all_pairs(scale):
    """forward() with products in bfloat16."""

    def call(q, k, v, input, forget, c0):
        decay = F.logsigmoid(forget).cumsum(dim=-1)
        scores = torch.matmul(q, k.transpose(-2, -1))
        weights = (scores * gates(decay, input, q.shape[-2])).to(q.dtype)
        before = torch.exp(decay).unsqueeze(-1) * torch.matmul(q, c0.to(q.dtype))
        return (scale * (torch.matmul(weights, v) + before)).to(q.dtype)

    return call


def states_by_product(totals, added, c0):
    """The state before each chunk: a product with the decays between chunks."""
    kind = added.dtype
    sums = F.pad(totals.cumsum(dim=-1), (1, 0))[..., :-1]
    later = torch.ones(sums.shape[-1], sums.shape[-1], dtype=torch.bool, device=sums.device).triu(1)
    between = (sums.unsqueeze(-1) - sums.unsqueeze(-2)).masked_fill(later, float("-inf"))
    parts = torch.cat([c0.to(kind).unsqueeze(2), added[:, :, :-1]], dim=2)
    states = torch.matmul(torch.exp(between).to(kind), parts.flatten(3))
    return states.view_as(parts)


def states_in_turn(totals, added, c0):
    """The state before each chunk, one after the other, in single precision."""
    state, found = c0, []
    decays = torch.exp(totals)[..., None, None]
    for i in range(added.shape[2]):
        found.append(state.to(added.dtype))
        state = decays[:, :, i] * state + added[:, :, i]
    return torch.stack(found, dim=2)


def by_chunks(scale, length, states_of):
    """Pairs of positions within chunks of this length, and the states between chunks."""

    def call(q, k, v, input, forget, c0):
        batch, heads, s, d = q.shape
        chunks = -(-s // length)
        more = chunks * length - s

        def split(x):
            wide = F.pad(x, (0, 0, 0, more)) if more else x
            return wide.view(batch, heads, chunks, length, -1)

        queries, keys, values = split(q), split(k), split(v)
        entry = split(input.unsqueeze(-1)).squeeze(-1)
        decay = split(F.logsigmoid(forget).unsqueeze(-1)).squeeze(-1).cumsum(dim=-1)
        total = decay[..., -1]
        gate = torch.exp(total.unsqueeze(-1) - decay) * torch.sigmoid(entry)
        gated = (keys * gate.unsqueeze(-1)).to(q.dtype)
        added = torch.matmul(gated.transpose(-2, -1), values)
        states = states_of(total, added, c0)
        scores = torch.matmul(queries, keys.transpose(-2, -1))
        weights = (scores * gates(decay, entry, length)).to(q.dtype)
        first = (queries * torch.exp(decay).unsqueeze(-1)).to(q.dtype)
        # One product for both parts: their sum is rounded once.
        left, right = torch.cat([first, weights], dim=-1), torch.cat([states, values], dim=-2)
        out = (scale * torch.matmul(left, right)).to(q.dtype)
        return out.view(batch, heads, chunks * length, -1)[:, :, :s].contiguous()

    return call


def by_package(scale, chunk_simple_gla):
    """The kernels of flash-linear-attention; there heads come behind positions."""

    def call(q, k, v, input, forget, c0):
        gated = (k * torch.sigmoid(input).unsqueeze(-1)).to(k.dtype)
        q, k, v = (x.transpose(1, 2).contiguous() for x in (q, gated, v))
        decay = F.logsigmoid(forget).transpose(1, 2).contiguous()
        out, _ = chunk_simple_gla(q, k, v, decay, scale=scale, initial_state=c0)
        return out.transpose(1, 2).contiguous()

    return call


def alternatives(model, q, k, v, input, forget, c0):
    """{name: function}."""
    scale = model.scale / q.shape[-1] ** 0.5
    inputs = (q, k, v, input, forget, c0)
    calls = {"all pairs, in bf16": of_all_pairs(scale)}
    for length in (64, 128, 256):
        calls[f"chunks of {length}"] = by_chunks(scale, length, states_by_product)
    calls["chunks of 128, states in turn"] = by_chunks(scale, 128, states_in_turn)
    if hasattr(torch, "compile"):
        calls.update({f"compiled, {name}": compiled(call) for name, call in calls.items()})
    try:
        from fla.ops.simple_gla import chunk_simple_gla
    except Exception:  # no such package, or it cannot work with this Triton
        return calls
    package = by_package(scale, chunk_simple_gla)
    if runs(package, *inputs):
        calls["flash-linear-attention, chunk_simple_gla"] = package
    return calls
