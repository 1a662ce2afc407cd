"""What a good user of PyTorch would try for adamw_step."""
import torch

STEPS = 1e9  # so many that PyTorch's own corrections of the bias are 1


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def alternatives(model, p, g, m, v):
    """{name: function}. The corrections are folded into the learning rate and eps."""
    beta1, beta2 = model.beta1, model.beta2
    root = model.correction2**0.5
    lr, eps = model.lr * root / model.correction1, model.eps * root
    shrink = model.lr * model.decay
    settings = {
        "lr": lr, "beta1": beta1, "beta2": beta2, "weight_decay": shrink / lr, "eps": eps,
        "amsgrad": False, "maximize": False,
    }  # fmt: skip
    step = torch.tensor(STEPS, dtype=torch.float32, device=p.device)

    def fused(p, g, m, v):
        new = [x.clone() for x in (p, m, v)]
        torch._fused_adamw_([new[0]], [g], [new[1]], [new[2]], [], [step], **settings)
        return tuple(new)

    def folded(p, g, m, v):
        m1 = beta1 * m + (1 - beta1) * g
        v1 = beta2 * v + (1 - beta2) * g * g
        return p * (1 - shrink) - lr * m1 / (torch.sqrt(v1) + eps), m1, v1

    calls = {"compiled, corrections folded": compiled(folded)}
    if hasattr(torch, "_fused_adamw_"):
        calls["fused AdamW of copies"] = fused
    return calls
