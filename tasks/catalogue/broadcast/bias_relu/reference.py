import torch
import torch.nn as nn


class Model(nn.Module):
    """y = relu(x + bias)"""

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + bias)


rows, cols = 8192, 16384


def get_inputs():
    x = torch.randn(rows, cols) * 2 + 0.5
    return [x.to(torch.bfloat16), torch.randn(cols).to(torch.bfloat16)]


def get_init_inputs():
    return []
