import torch
import torch.nn as nn


class Model(nn.Module):
    """y = x @ (scale * w).T; w holds signed 4-bit weights, two to a byte, low nibble first"""

    def forward(self, x: torch.Tensor, w: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        nibbles = torch.stack([w & 15, w >> 4], dim=2).flatten(1).to(torch.int8)
        weights = ((nibbles ^ 8) - 8).to(torch.bfloat16)
        return (torch.matmul(x, weights.t()).float() * scale).to(torch.bfloat16)


m, n, k = 4096, 4096, 4096


def get_inputs():
    return [
        torch.randn(m, k).to(torch.bfloat16),
        torch.randint(0, 256, (n, k // 2), dtype=torch.uint8),
        torch.rand(n) * 0.09 + 0.01,
    ]


def get_init_inputs():
    return []
