"""What a good user of PyTorch would try for gemv_f32."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def with_tf32(product):
    def call(a, x):
        kept = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high")
        try:
            return product(a, x)
        finally:
            torch.set_float32_matmul_precision(kept)

    return call


def alternatives(model, a, x):
    """{name: function}."""
    alpha = model.alpha
    nothing = torch.zeros(1, device=a.device)
    column = nothing.unsqueeze(1)

    def one_column(a, x):
        return torch.addmm(column, a, x.unsqueeze(1), beta=0, alpha=alpha).squeeze(1)

    def sums(a, x):
        return (a * x).sum(dim=1) * alpha

    return {
        "addmv with alpha": lambda a, x: torch.addmv(nothing, a, x, beta=0, alpha=alpha),
        "mv, then the factor in place": lambda a, x: torch.mv(a, x).mul_(alpha),
        "addmm with one column": one_column,
        "linear of one row": lambda a, x: F.linear(x.unsqueeze(0), a).squeeze(0).mul_(alpha),
        "compiled, products and sums": compiled(sums),
        "TF32, addmm with one column": with_tf32(one_column),
    }
