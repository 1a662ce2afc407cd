import torch
import torch.nn as nn


class Model(nn.Module):
    """The k largest elements of each row and their columns; of equal ones the first comes first"""

    def forward(self, x: torch.Tensor):
        values, indices = torch.sort(x, dim=1, descending=True, stable=True)
        return values[:, :k].contiguous(), indices[:, :k].to(torch.int32)


rows, cols, k = 256, 128256, 50


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
