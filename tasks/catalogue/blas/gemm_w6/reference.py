import torch
import torch.nn as nn


class Model(nn.Module):
    """y = (x_scale * x) @ (w_scale * w).T; w holds signed 6-bit weights, lowest bits first"""

    def forward(self, x: torch.Tensor, x_scale: torch.Tensor, w: torch.Tensor,
                w_scale: torch.Tensor) -> torch.Tensor:
        wide = torch.float64 if x_scale.dtype == torch.float64 else torch.float32
        first, second, third = w.to(torch.int32).reshape(w.shape[0], -1, 3).unbind(2)
        quads = first | second << 8 | third << 16
        fields = torch.stack([quads >> shift & 63 for shift in (0, 6, 12, 18)], dim=2).flatten(1)
        left, right = [
            values.to(wide) * scale.to(wide).repeat_interleave(128, dim=1)[:, : x.shape[1]]
            for values, scale in ((x, x_scale), ((fields ^ 32) - 32, w_scale))
        ]
        return torch.matmul(left, right.t()).to(x_scale.dtype)


m, n, k = 1024, 4096, 11008


def get_inputs():
    groups = (k + 127) // 128
    return [
        torch.randint(-127, 128, (m, k), dtype=torch.int8),
        (torch.rand(m, groups) * 0.02 + 0.01).to(torch.float16),
        torch.randint(0, 256, (n, k // 4 * 3), dtype=torch.uint8),
        (torch.rand(n, groups) * 0.006 + 0.002).to(torch.float16),
    ]


def get_init_inputs():
    return []
