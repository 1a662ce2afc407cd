import torch
import torch.nn as nn


class Model(nn.Module):
    """y = x @ w.T for a matrix w of weights of which about 80 % are zero"""

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        wide = [t if t.dtype == torch.float64 else t.float() for t in (x, w)]
        return torch.matmul(wide[0], wide[1].t()).to(x.dtype)


m, n, k = 64, 9216, 9216


def get_inputs():
    w = torch.randn(n, k) * (torch.rand(n, k) < 0.2) * 0.1
    return [torch.randn(m, k).to(torch.float16), w.to(torch.float16)]


def get_init_inputs():
    return []
