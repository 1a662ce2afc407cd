import torch
import torch.nn as nn


class Model(nn.Module):
    """TO DO: the formula"""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x)  # TO DO: the operation


rows, cols = 16384, 4096  # TO DO: the sizes of a search shape


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return [1.0]
