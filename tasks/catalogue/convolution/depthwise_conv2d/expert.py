"""What a good user of PyTorch would try for depthwise_conv2d."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def convolve(x, weight, tf32):
    groups = x.shape[1]
    return torch.cudnn_convolution(x, weight, (1, 1), (1, 1), (1, 1), groups, True, False, tf32)


def last(x):
    return x.contiguous(memory_format=torch.channels_last)


def nine_products(x, weight):
    """The sum of nine shifted planes, each with a factor a channel."""
    h, w = x.shape[2:]
    padded = F.pad(x, (1, 1, 1, 1))
    total = 0
    for a in range(3):
        for b in range(3):
            factor = weight[:, 0, a, b].view(1, -1, 1, 1)
            total = total + factor * padded[:, :, a : a + h, b : b + w]
    return total


def alternatives(model, x, weight):
    """{name: function}. cuDNN measures its algorithms; what is returned is row-major."""
    torch.backends.cudnn.benchmark = True

    def channels_last(x, weight):
        return F.conv2d(last(x), last(weight), padding=1, groups=x.shape[1]).contiguous()

    return {
        "cuDNN, measured algorithm": lambda x, weight: convolve(x, weight, False),
        "conv2d, channels last inside": channels_last,
        "compiled, nine shifted products": compiled(nine_products),
        "TF32, cuDNN": lambda x, weight: convolve(x, weight, True),
    }
