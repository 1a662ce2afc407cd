"""What a good user of PyTorch would try for conv_bn_relu."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def last(x):
    return x.contiguous(memory_format=torch.channels_last)


def folded(weight, bias):
    """Calls with the normalisation in the weights; both layouts of planes."""
    wide = last(weight)
    each = bias.view(1, -1, 1, 1)

    def fused(x):
        return torch.cudnn_convolution_relu(x, weight, bias, (1, 1), (1, 1), (1, 1), 1)

    def fused_last(x):
        out = torch.cudnn_convolution_relu(last(x), wide, bias, (1, 1), (1, 1), (1, 1), 1)
        return out.contiguous()

    def apart(x):
        return F.conv2d(x, weight, bias, padding=1).relu_()

    def whole(x):
        return torch.relu(F.conv2d(x, weight, bias, padding=1))

    finish = compiled(lambda sums: torch.relu(sums + each).contiguous())

    def finished(x):
        return finish(F.conv2d(last(x), wide, padding=1))

    return {
        "cudnn_convolution_relu, folded weights": fused,
        "cudnn_convolution_relu, folded weights, channels last inside": fused_last,
        "conv2d, folded weights, then relu": apart,
        "conv2d, folded weights, channels last inside, bias and relu compiled": finished,
        "compiled, folded weights": compiled(whole),
    }


def alternatives(model, x, weight, gamma, beta, mean, variance):
    """{name: function}. All inputs but x are static; what is returned is row-major."""
    torch.backends.cudnn.benchmark = True
    scale = gamma / torch.sqrt(variance + model.eps)
    shift = beta - mean * scale
    factors = (weight.float() * scale.view(-1, 1, 1, 1)).half()
    calls = folded(factors, shift.half())
    if not hasattr(torch, "cudnn_convolution_relu"):
        calls = {name: call for name, call in calls.items() if not name.startswith("cudnn")}
    wide = last(weight)
    scale, shift = scale.view(1, -1, 1, 1), shift.view(1, -1, 1, 1)
    normalise = compiled(lambda sums: torch.relu(sums.float() * scale + shift).half().contiguous())
    calls["conv2d, channels last inside, normalisation compiled"] = lambda x: normalise(
        F.conv2d(last(x), wide, padding=1)
    )
    return {name: lambda x, *static, call=call: call(x) for name, call in calls.items()}
