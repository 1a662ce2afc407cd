import torch
import torch.nn as nn

SIZES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


class Model(nn.Module):
    """y = x @ w[e].T for the rows of each expert e; w holds 4-bit floats, two to a byte, low nibble first"""

    def forward(
        self, x: torch.Tensor, w: torch.Tensor, scale: torch.Tensor, offsets: torch.Tensor
    ) -> torch.Tensor:
        floats = x.new_tensor(SIZES + [-size for size in SIZES])
        y = x.new_empty(x.shape[0], w.shape[1])
        ends = offsets.tolist()
        for e in range(w.shape[0]):
            nibbles = torch.stack([w[e] & 15, w[e] >> 4], dim=2).flatten(1).long()
            powers = torch.exp2(scale[e].to(x.dtype) - 127)
            weights = floats[nibbles] * powers.repeat_interleave(32, dim=1)
            rows = slice(ends[e], ends[e + 1])
            y[rows] = torch.matmul(x[rows], weights.t())
        return y


tokens, topk, experts, n, blocks = 2048, 4, 32, 2880, 90


def get_inputs():
    chosen = torch.randint(0, experts, (tokens * topk,)).sort()[0]
    first = torch.searchsorted(chosen, torch.arange(experts + 1))
    return [
        torch.randn(tokens * topk, 32 * blocks).to(torch.bfloat16),
        torch.randint(0, 256, (experts, n, 16 * blocks), dtype=torch.uint8),
        torch.randint(115, 124, (experts, n, blocks), dtype=torch.uint8),
        first.to(torch.int32),
    ]


def get_init_inputs():
    return []
