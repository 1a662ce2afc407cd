"""What a good user of PyTorch would try for bilinear_resize."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def coordinates(size, out, device):
    """The two places that each output lies between, and the weight of the second."""
    v = (torch.arange(out, dtype=torch.float64, device=device) + 0.5) * size / out - 0.5
    v = v.clamp(min=0)
    low = v.floor().clamp(max=size - 1)
    return low.long(), (low + 1).clamp(max=size - 1).long(), (v - low).float()


def alternatives(model, x):
    """{name: function}. reference.py has the sizes of the output as integers."""
    sizes = type(model).forward.__globals__
    out_h, out_w = sizes["out_h"], sizes["out_w"]
    top, bottom, down = coordinates(x.shape[2], out_h, x.device)
    left, right, along = coordinates(x.shape[3], out_w, x.device)
    top, bottom, down = (t.unsqueeze(1) for t in (top, bottom, down))

    def resize(x):
        return F.interpolate(x, size=(out_h, out_w), mode="bilinear", align_corners=False)

    def channels_last(x):
        return resize(x.contiguous(memory_format=torch.channels_last)).contiguous()

    def between(x, row):
        return torch.lerp(x[:, :, row, left].float(), x[:, :, row, right].float(), along)

    def gathers(x):
        return torch.lerp(between(x, top), between(x, bottom), down).to(x.dtype)

    return {
        "interpolate, channels last inside": channels_last,
        "compiled, four gathers with prepared coordinates": compiled(gathers),
    }
