import torch
import torch.nn as nn


class Model(nn.Module):
    """A step of AdamW: returns the new parameters and both running means"""

    def __init__(self, lr, beta1, beta2, eps, decay, correction1, correction2):
        super().__init__()
        self.lr, self.beta1, self.beta2, self.eps, self.decay = lr, beta1, beta2, eps, decay
        self.correction1, self.correction2 = correction1, correction2

    def forward(self, p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor):
        m1 = self.beta1 * m + (1 - self.beta1) * g
        v1 = self.beta2 * v + (1 - self.beta2) * g * g
        step = (m1 / self.correction1) / (torch.sqrt(v1 / self.correction2) + self.eps)
        return p * (1 - self.lr * self.decay) - self.lr * step, m1, v1


n = 4096 * 4096


def get_inputs():
    return [
        torch.randn(n) * 0.02,
        torch.randn(n) * 0.1,
        torch.randn(n) * 0.05,
        torch.rand(n) * 0.02,
    ]


def get_init_inputs():
    return [0.001, 0.9, 0.999, 1e-8, 0.1, 0.6513, 0.01]
