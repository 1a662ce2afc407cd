import torch
import torch.nn as nn


class Model(nn.Module):
    """relu(batch_norm(conv2d(x, weight))) as in inference, 3 x 3 with padding 1"""

    def __init__(self, eps: float):
        super().__init__()
        self.eps = eps

    def forward(
        self,
        x: torch.Tensor,
        weight: torch.Tensor,
        gamma: torch.Tensor,
        beta: torch.Tensor,
        mean: torch.Tensor,
        variance: torch.Tensor,
    ) -> torch.Tensor:
        sums = torch.nn.functional.conv2d(x, weight, padding=1)
        normalised = torch.nn.functional.batch_norm(sums, mean, variance, gamma, beta, eps=self.eps)
        return torch.relu(normalised)


images, channels, filters, h, w = 64, 64, 64, 56, 56


def get_inputs():
    return [
        torch.randn(images, channels, h, w).to(torch.float16),
        (torch.randn(filters, channels, 3, 3) * 0.05).to(torch.float16),
        torch.randn(filters) * 0.25 + 1,
        torch.randn(filters) * 0.5 + 0.5,
        torch.randn(filters) * 0.5,
        torch.rand(filters) * 1.5 + 0.5,
    ]


def get_init_inputs():
    return [1e-5]
