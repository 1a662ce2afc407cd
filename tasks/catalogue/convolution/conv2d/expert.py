"""What a good user of PyTorch would try for conv2d."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def convolve(x, weight, tf32):
    return torch.cudnn_convolution(x, weight, (1, 1), (1, 1), (1, 1), 1, True, False, tf32)


def last(x):
    return x.contiguous(memory_format=torch.channels_last)


def parts(x):
    """The part that TF32 represents, and the rest."""
    high = (x.view(torch.int32) & -8192).view(torch.float32)
    return high, x - high


def split(x, weight):
    """Three products as one convolution of three times as many channels."""
    (x1, x2), (w1, w2) = parts(x), parts(weight)
    return last(torch.cat([x2, x1, x1], dim=1)), last(torch.cat([w1, w2, w1], dim=1))


def alternatives(model, x, weight):
    """{name: function}. cuDNN measures its algorithms; what is returned is row-major."""
    torch.backends.cudnn.benchmark = True
    factors = compiled(split)

    def plain(x, weight):
        return F.conv2d(x, weight, padding=1)

    def channels_last(x, weight):
        return F.conv2d(last(x), last(weight), padding=1).contiguous()

    def three_products(x, weight):
        return convolve(*factors(x, weight), True).contiguous()

    return {
        "conv2d, measured algorithm": plain,
        "conv2d, channels last inside": channels_last,
        "compiled, channels last inside": compiled(channels_last),
        "three TF32 products of split factors": three_products,
        "TF32, conv2d": lambda x, weight: convolve(x, weight, True),
        "TF32, conv2d, channels last inside": lambda x, weight: convolve(
            last(x), last(weight), True
        ).contiguous(),
    }
