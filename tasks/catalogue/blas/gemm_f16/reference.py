import torch
import torch.nn as nn


class Model(nn.Module):
    """c = a @ b in half precision"""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(a, b)


m, n, k = 4096, 4096, 4096


def get_inputs():
    return [
        torch.randn(m, k).to(torch.float16),
        (torch.rand(k, n) * 2 - 1).to(torch.float16),
    ]


def get_init_inputs():
    return []
