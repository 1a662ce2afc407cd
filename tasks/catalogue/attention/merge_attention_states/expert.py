"""What a good user of PyTorch would try for merge_attention_states."""
import torch


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def alternatives(model, a, lse_a, b, lse_b):
    """{name: function}. exp(la - lse) is sigmoid(la - lb), and both weights add up to 1."""

    def by_sigmoid(a, lse_a, b, lse_b):
        weight = torch.sigmoid(lse_a - lse_b).t().unsqueeze(2)
        y = (weight * a.float() + (1 - weight) * b.float()).to(a.dtype)
        return y, torch.logaddexp(lse_a, lse_b)

    def weights(lse_a, lse_b):
        transposed = torch.sigmoid(lse_a - lse_b).t().contiguous()
        return transposed, torch.logaddexp(lse_a, lse_b)

    def mix(a, b, weight):
        return torch.lerp(b.float(), a.float(), weight.unsqueeze(2)).to(a.dtype)

    first, second = compiled(weights), compiled(mix)

    def in_two_parts(a, lse_a, b, lse_b):
        weight, lse = first(lse_a, lse_b)
        return second(a, b, weight), lse

    return {
        "compiled, one weight by sigmoid": compiled(by_sigmoid),
        "compiled, weights first": in_two_parts,
    }
