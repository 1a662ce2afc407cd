"""What a good user of PyTorch would try for cumsum_rows."""
import torch


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def length_of_parts(cols):
    """The largest length of four equal parts of a row or more, up to 4096."""
    return max(length for length in range(1, 4097) if cols % length == 0 and 4 * length <= cols)


def alternatives(model, x):
    """{name: function}; forward() is PyTorch's own call."""
    rows, cols = x.shape
    length = length_of_parts(cols) if cols >= 4 else cols

    def by_parts(x):
        parts = x.view(rows, -1, length)
        sums = parts.sum(dim=2, keepdim=True)
        before = sums.cumsum(dim=1) - sums
        return (parts.cumsum(dim=2) + before).view(rows, cols)

    def last_of_parts(x):
        parts = x.view(rows, -1, length).cumsum(dim=2)
        sums = parts[:, :, -1:]
        return (parts + (sums.cumsum(dim=1) - sums)).view(rows, cols)

    if not 64 <= length < cols:
        return {}
    return {
        "cumsum of parts of a row": last_of_parts,
        "compiled, cumsum of parts of a row": compiled(by_parts),
    }
