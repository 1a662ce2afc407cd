"""What a good user of PyTorch would try for layernorm."""
import torch


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def alternatives(model, x, gamma, beta):
    """{name: function}; forward() is PyTorch's own call."""
    eps = model.eps

    def two_sums(x, gamma, beta):
        centred = x - x.mean(dim=1, keepdim=True)
        variance = centred.square().mean(dim=1, keepdim=True)
        return centred * torch.rsqrt(variance + eps) * gamma + beta

    return {"compiled, mean, then squares": compiled(two_sums)}
