import torch
import torch.nn as nn


class Model(nn.Module):
    """y = alpha * a @ x in single precision"""

    def __init__(self, alpha: float):
        super().__init__()
        self.alpha = alpha

    def forward(self, a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return self.alpha * torch.mv(a, x)


m, n = 14336, 4096


def get_inputs():
    return [torch.randn(m, n), torch.rand(n) * 2 - 1]


def get_init_inputs():
    return [1.0]
