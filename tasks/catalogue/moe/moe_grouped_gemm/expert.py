"""What a good user of PyTorch would try for moe_grouped_gemm."""
import torch
import torch.nn.functional as F

MOST_BYTES = 2**30  # for the products of all tokens with all experts


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def grouped(w):
    """The grouped product of tokens sorted by expert; rows are multiples of 16 bytes."""
    experts, n, k = w.shape
    more_k, more_n = -k % 8, -n % 8
    wide = F.pad(w, (0, more_k, 0, more_n)) if more_k or more_n else w
    each = torch.arange(experts, dtype=torch.int32, device=w.device)

    def call(x, expert):
        x = F.pad(x, (0, more_k)) if more_k else x
        chosen, order = torch.sort(expert.flatten())
        ends = torch.searchsorted(chosen, each, right=True, out_int32=True)
        found = torch._grouped_mm(x[order // expert.shape[1]], wide.transpose(1, 2), offs=ends)
        y = torch.empty_like(found).index_copy_(0, order, found)
        return y[:, :n].reshape(*expert.shape, n)

    return call


def all_experts(w):
    """Every token with every expert; then the chosen ones."""
    experts, n, k = w.shape
    flat = w.view(experts * n, k)

    def call(x, expert):
        found = F.linear(x, flat).view(-1, experts, n)
        token = torch.arange(x.shape[0], device=x.device).unsqueeze(1)
        return found[token, expert.long()]

    return call


def alternatives(model, x, w, expert):
    """{name: function}. w is static; no call waits for the numbers of tokens."""
    calls = {}
    if hasattr(torch, "_grouped_mm"):
        calls["sort, then _grouped_mm"] = grouped(w)
        calls["compiled, sort, then _grouped_mm"] = compiled(grouped(w))
    if 2 * x.shape[0] * w.shape[0] * w.shape[1] <= MOST_BYTES:
        calls["one product of all tokens and experts, then the chosen"] = all_experts(w)
        calls["compiled, one product of all, then the chosen"] = compiled(all_experts(w))
    return {
        name: lambda x, w, expert, call=call: call(x, expert) for name, call in calls.items()
    }
