"""What a good user of PyTorch would try for long_convolution."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def smooth(least):
    """The smallest size from `least` on that is a product of 2, 3 and 5."""
    size = least
    while True:
        rest = size
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 1


def sizes(n):
    """Sizes of a transform that nothing wraps around in, by name."""
    least = 2 * n - 1
    found = {"2 n": 2 * n, "a power of two": 1 << (least - 1).bit_length()}
    found["2, 3 and 5"] = smooth(least)
    return {size: name for name, size in reversed(found.items())}


def with_skip(h, skip):
    """The filter with the skip term in its first tap."""
    taps = h.clone()
    taps[:, 0] += skip
    return taps


def real_transform(taps, size):
    n = taps.shape[-1]
    spectrum = torch.fft.rfft(taps, n=size)

    def call(u):
        found = torch.fft.rfft(u, n=size)
        return torch.fft.irfft(found.mul_(spectrum), n=size)[..., :n].contiguous()

    return call


def products_of_pairs(taps, size):
    """Products as real numbers: inductor makes no kernels of complex ones."""
    n = taps.shape[-1]
    spectrum = torch.view_as_real(torch.fft.rfft(taps, n=size))
    real, imaginary = spectrum[..., 0].contiguous(), spectrum[..., 1].contiguous()

    def call(u):
        found = torch.view_as_real(torch.fft.rfft(u, n=size))
        a, b = found[..., 0], found[..., 1]
        product = torch.stack([a * real - b * imaginary, a * imaginary + b * real], dim=-1)
        return torch.fft.irfft(torch.view_as_complex(product), n=size)[..., :n].contiguous()

    return call


def two_sequences_at_once(taps, size):
    """The filter is real: so the parts of a complex sequence stay apart."""
    n = taps.shape[-1]
    spectrum = torch.fft.fft(taps, n=size)

    def call(u):
        found = torch.fft.fft(torch.complex(u[0::2], u[1::2]), n=size)
        y = torch.fft.ifft(found.mul_(spectrum), n=size)[..., :n]
        return torch.stack([y.real, y.imag], dim=1).flatten(0, 1)

    return call


def direct(taps):
    """A convolution with one filter a channel; PyTorch's is a correlation."""
    channels, n = taps.shape
    flipped = taps.flip(-1).unsqueeze(1).contiguous()
    return lambda u: F.conv1d(F.pad(u, (n - 1, 0)), flipped, groups=channels)


def alternatives(model, u, h, skip):
    """{name: function}. h and skip are static."""
    taps = with_skip(h, skip)
    calls = {"conv1d": direct(taps)}
    for size, name in sizes(u.shape[-1]).items():
        calls[f"rfft, filter prepared, size {name}"] = real_transform(taps, size)
        if u.shape[0] % 2 == 0:
            calls[f"fft of two sequences, size {name}"] = two_sequences_at_once(taps, size)
        if hasattr(torch, "compile"):
            pairs = products_of_pairs(taps, size)
            calls[f"compiled, rfft, filter prepared, size {name}"] = compiled(pairs)
    return {name: lambda u, h, skip, call=call: call(u) for name, call in calls.items()}
