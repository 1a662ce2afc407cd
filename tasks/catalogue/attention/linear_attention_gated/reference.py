import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Linear attention of each position to the positions up to itself, with gates that forget"""

    def __init__(self, scale: float):
        super().__init__()
        self.scale = scale

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, input: torch.Tensor,
                forget: torch.Tensor, c0: torch.Tensor) -> torch.Tensor:
        wide = [x if x.dtype == torch.float64 else x.float() for x in (q, k, v)]
        decay = F.logsigmoid(forget).cumsum(dim=-1)
        s = q.shape[-2]
        later = torch.ones(s, s, dtype=torch.bool, device=q.device).triu(1)
        between = decay[..., :, None] - decay[..., None, :]
        gates = torch.exp(between.masked_fill(later, float("-inf"))) * torch.sigmoid(input)[..., None, :]
        scores = torch.matmul(wide[0], wide[1].transpose(-2, -1))
        before = torch.exp(decay)[..., None] * torch.matmul(wide[0], c0)
        out = torch.matmul(scores * gates, wide[2]) + before
        return (self.scale / q.shape[-1] ** 0.5 * out).to(q.dtype)


batch, heads, s, d, dv = 2, 8, 4096, 256, 512


def get_inputs():
    q, k = torch.randn(batch, heads, s, d), torch.randn(batch, heads, s, d)
    v = torch.randn(batch, heads, s, dv)
    gates = [torch.randn(batch, heads, s) - 2, torch.randn(batch, heads, s) + 4]
    return [x.to(torch.bfloat16) for x in (q, k, v)] + gates + [torch.randn(batch, heads, d, dv)]


def get_init_inputs():
    return [1.0]
