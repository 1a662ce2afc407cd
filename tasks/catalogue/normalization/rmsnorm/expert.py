"""What a good user of PyTorch would try for rmsnorm."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def alternatives(model, x, weight):
    """{name: function}."""
    eps, size = model.eps, (x.shape[1],)

    def norm(x, weight):
        return F.rms_norm(x, size, weight, eps)

    calls = {"rms_norm": norm, "compiled, rms_norm": compiled(norm)}
    if hasattr(torch.ops.aten, "_fused_rms_norm"):
        calls["_fused_rms_norm"] = lambda x, weight: torch.ops.aten._fused_rms_norm(
            x, size, weight, eps
        )[0]
    return calls
