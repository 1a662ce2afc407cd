import torch
import torch.nn as nn


class Model(nn.Module):
    """y = x @ w[e].T for each expert e of each token"""

    def forward(self, x: torch.Tensor, w: torch.Tensor, expert: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(*expert.shape, w.shape[1])
        for e in range(w.shape[0]):
            token, slot = torch.nonzero(expert == e, as_tuple=True)
            y[token, slot] = torch.matmul(x[token], w[e].t())
        return y


tokens, topk, experts, n, k = 4096, 8, 128, 768, 2048


def get_inputs():
    return [
        torch.randn(tokens, k).to(torch.bfloat16),
        (torch.randn(experts, n, k) * 0.05).to(torch.bfloat16),
        torch.randint(0, experts, (tokens, topk), dtype=torch.int32),
    ]


def get_init_inputs():
    return []
