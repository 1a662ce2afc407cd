import torch
import torch.nn as nn


class Model(nn.Module):
    """A linear layer."""

    def __init__(self, inner, outer):
        super().__init__()
        self.linear = nn.Linear(inner, outer)

    def forward(self, x):
        return self.linear(x)


rows = 32
inner = 24
outer = 40


def get_inputs():
    return [torch.rand(rows, inner)]


def get_init_inputs():
    return [inner, outer]
