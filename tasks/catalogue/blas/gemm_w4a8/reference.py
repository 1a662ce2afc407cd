import torch
import torch.nn as nn


class Model(nn.Module):
    """y = x_scale * (x @ (w_scale * w).T); w holds signed 4-bit weights, low nibble first"""

    def forward(self, x: torch.Tensor, x_scale: torch.Tensor, w: torch.Tensor,
                w_scale: torch.Tensor) -> torch.Tensor:
        nibbles = torch.stack([w & 15, w >> 4], dim=2).flatten(1).to(torch.int8)
        scales = w_scale.repeat_interleave(128, dim=1)[:, : x.shape[1]].to(x_scale.dtype)
        weights = ((nibbles ^ 8) - 8).to(x_scale.dtype) * scales
        y = torch.matmul(x.to(x_scale.dtype), weights.t()) * x_scale[:, None]
        return y.to(w_scale.dtype)


m, n, k = 2048, 4096, 4096


def get_inputs():
    return [
        torch.randint(-127, 128, (m, k), dtype=torch.int8),
        torch.rand(m) * 0.02 + 0.01,
        torch.randint(0, 256, (n, k // 2), dtype=torch.uint8),
        (torch.rand(n, (k + 127) // 128) * 0.015 + 0.005).to(torch.float16),
    ]


def get_init_inputs():
    return []
