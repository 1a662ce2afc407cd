"""What a good user of PyTorch would try for silu_and_mul."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def alternatives(model, x):
    """{name: function}. Inductor computes bfloat16 in single precision within a kernel."""

    def product(x):
        gate, up = x.chunk(2, dim=1)
        return F.silu(gate) * up

    def by_sigmoid(x):
        gate, up = x.float().chunk(2, dim=1)
        return (gate * torch.sigmoid(gate) * up).to(x.dtype)

    return {
        "silu and product in bfloat16": product,
        "compiled, bfloat16 formula": compiled(product),
        "compiled, by sigmoid": compiled(by_sigmoid),
    }
