import torch
import torch.nn as nn


class Model(nn.Module):
    """bfloat16 numbers from their signs and mantissas and from exponents in a prefix code"""

    def forward(self, codes: torch.Tensor, sign_mantissa: torch.Tensor,
                symbols: torch.Tensor) -> torch.Tensor:
        device = codes.device
        shifts = torch.arange(7, -1, -1, device=device)
        bits = (codes[:, None].int() >> shifts & 1).flatten()
        # What 12 bits begin with: a code of k bits stands for 2^(12 - k) neighbours.
        bits_of = torch.tensor([2, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12], device=device)
        symbol_at = torch.repeat_interleave(torch.arange(15, device=device), 2 ** (12 - bits_of))
        places = torch.arange(12, device=device)
        at = torch.arange(chunks, device=device) * ((3 * length + 31) // 32 * 32)
        exponents = []
        for _ in range(length):
            window = bits[(at[:, None] + places).clamp(max=len(bits) - 1)]
            symbol = symbol_at[(window * 2 ** (11 - places)).sum(1)]
            exponents.append(symbols[symbol].int())
            at = at + bits_of[symbol]
        rest = sign_mantissa.int()
        numbers = (rest & 128) << 8 | torch.stack(exponents, dim=1) << 7 | rest & 127
        return ((numbers ^ 32768) - 32768).to(torch.int16)


chunks, length = 57344, 1024


def get_inputs():
    words = chunks * ((3 * length + 31) // 32) + (3 * length + 7) // 8
    return [
        torch.randint(0, 256, (4 * words,), dtype=torch.uint8),
        torch.randint(0, 256, (chunks, length), dtype=torch.uint8),
        torch.randperm(64)[:15].add(96).to(torch.uint8),
    ]


def get_init_inputs():
    return []
