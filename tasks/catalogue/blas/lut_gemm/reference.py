import torch
import torch.nn as nn


class Model(nn.Module):
    """y = x @ weights.T; a weight is looked up in the table of its row by its 4-bit code"""

    def forward(self, x: torch.Tensor, w: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        codes = torch.stack([w & 15, w >> 4], dim=2).flatten(1).long()
        weights = torch.gather(table, 1, codes)
        wide = [t if t.dtype == torch.float64 else t.float() for t in (x, weights)]
        return torch.matmul(wide[0], wide[1].t()).to(x.dtype)


m, n, k = 512, 4096, 4096


def get_inputs():
    return [
        torch.randn(m, k).to(torch.float16),
        torch.randint(0, 256, (n, k // 2), dtype=torch.uint8),
        (torch.randn(n, 16) * 0.1).to(torch.float16),
    ]


def get_init_inputs():
    return []
