import torch
import torch.nn as nn


class Model(nn.Module):
    """Jacobi iterations: u = (sum of the four neighbours + b) / 4, zeros outside the grid"""

    def __init__(self, steps: int):
        super().__init__()
        self.steps = steps

    def forward(self, start: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        u = start
        for _ in range(self.steps):
            padded = torch.nn.functional.pad(u, (1, 1, 1, 1))
            around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
            u = (around + b) / 4
        return u


h, w = 4096, 4096


def get_inputs():
    return [torch.randn(h, w), torch.randn(h, w)]


def get_init_inputs():
    return [10]
