import torch
import torch.nn as nn


class Model(nn.Module):
    """c = scale_a * scale_b * (a @ b.T) of e4m3 matrices, in bfloat16"""

    def __init__(self, scale_a: float, scale_b: float):
        super().__init__()
        self.scale_a = scale_a
        self.scale_b = scale_b

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        scale_a = torch.tensor(self.scale_a, device=a.device)
        scale_b = torch.tensor(self.scale_b, device=a.device)
        return torch._scaled_mm(
            a, b.t(), scale_a=scale_a, scale_b=scale_b, out_dtype=torch.bfloat16
        )


m, n, k = 4096, 4096, 4096


def get_inputs():
    return [
        torch.randn(m, k).to(torch.float8_e4m3fn),
        torch.randn(n, k).to(torch.float8_e4m3fn),
    ]


def get_init_inputs():
    return [0.5, 0.25]
