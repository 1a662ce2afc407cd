import torch
import torch.nn as nn


class Model(nn.Module):
    """Complex Fourier transform of each row; the last axis has real and imaginary parts"""

    def __init__(self, inverse: int):
        super().__init__()
        self.inverse = inverse

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = torch.view_as_complex(x.contiguous())
        y = torch.fft.ifft(z, norm="forward") if self.inverse else torch.fft.fft(z)
        return torch.view_as_real(y)


batch, n = 8192, 2048


def get_inputs():
    return [torch.randn(batch, n, 2)]


def get_init_inputs():
    return [0]
