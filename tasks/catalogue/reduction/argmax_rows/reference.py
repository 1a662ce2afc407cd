import torch
import torch.nn as nn


class Model(nn.Module):
    """out = the first index of the maximum of each row"""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = torch.arange(x.shape[1], device=x.device)
        is_largest = x == x.amax(dim=1, keepdim=True)
        return torch.where(is_largest, columns, x.shape[1]).amin(dim=1).int()


rows, cols = 512, 128256


def get_inputs():
    return [torch.randint(0, 20011, (rows, cols)) * 0.001]


def get_init_inputs():
    return []
