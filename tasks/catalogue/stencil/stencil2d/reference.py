import torch
import torch.nn as nn


class Model(nn.Module):
    """out = center * in + side * (sum of the four neighbours), zeros outside the grid"""

    def __init__(self, center: float, side: float):
        super().__init__()
        self.center = center
        self.side = side

    def forward(self, grid: torch.Tensor) -> torch.Tensor:
        padded = torch.nn.functional.pad(grid, (1, 1, 1, 1))
        around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        return self.center * grid + self.side * around


h, w = 4096, 4096


def get_inputs():
    return [torch.randn(h, w)]


def get_init_inputs():
    return [0.5, 0.125]
