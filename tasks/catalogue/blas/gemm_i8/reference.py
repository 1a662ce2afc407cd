import torch
import torch.nn as nn


class Model(nn.Module):
    """c = a @ b.T, int8 to int32"""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch._int_mm(a, b.t())


m, n, k = 4096, 4096, 4096


def get_inputs():
    return [
        torch.randint(-127, 128, (m, k), dtype=torch.int8),
        torch.randint(-127, 128, (n, k), dtype=torch.int8),
    ]


def get_init_inputs():
    return []
