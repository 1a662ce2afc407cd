import torch
import torch.nn as nn


class Model(nn.Module):
    """y = gelu(x @ w + bias), the exact GELU, rounded to half precision at the end"""

    def forward(self, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        wide = [t if t.dtype == torch.float64 else t.float() for t in (x, w, bias)]
        return torch.nn.functional.gelu(torch.matmul(wide[0], wide[1]) + wide[2]).to(x.dtype)


m, n, k = 8192, 3072, 768


def get_inputs():
    x = torch.randn(m, k)
    w = torch.randn(k, n) * 0.05
    bias = torch.randn(n) * 0.5
    return [t.to(torch.float16) for t in (x, w, bias)]


def get_init_inputs():
    return []
