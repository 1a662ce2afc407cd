"""State with a structure: packed integers, tables, masks, and the scales that belong to them.

Such a tensor comes from the constructor, built again with another seed: noise of the same mean would be no weights.
"""

import torch

from forms import Form
from noise import LARGEST_SEED
from precision import Plain
from problem import construct, load_module
from seeds import without_own_seeds
from survey import given_inputs, is_statistic

COMPUTED = {"kind": "reference"}
SEEDS = (11, 12, 13)


class Fresh(Plain):
    """Random functions draw from the one generator that Winnow seeds."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = {key: value for key, value in (kwargs or {}).items() if key != "generator"}
        return super().__torch_function__(func, types, args, kwargs)


def constructed_state(module, mode, seed):
    """{name: tensor} of the parameters and buffers, built with this seed and on the CPU."""
    with torch.no_grad(), Fresh():
        model = construct(module, [], mode, torch.device("cpu"), seed % LARGEST_SEED, freeze=without_own_seeds)
    return {**dict(model.named_buffers()), **{name: p.detach() for name, p in model.named_parameters()}}


def drawn_names(module, values):
    """The state that the constructor must draw: integers, buffers that differ from seed to seed, and parameters beside
    such a buffer that are not trained or differ, too."""
    if module.survey(values).is_plain:
        return []
    code = load_module(module.source, module.settings(values))
    with torch.no_grad(), Plain():
        model = construct(code, [], module.mode, torch.device("cpu"))
    builds = [constructed_state(code, module.mode, seed) for seed in SEEDS]
    parameters = dict(model.named_parameters())
    differing = {
        name for name, tensor in builds[0].items()
        if not is_statistic(name) and any(not same(tensor, other[name]) for other in builds[1:])
    }  # fmt: skip
    drawn = {name for name in differing if name not in parameters}
    drawn |= {name for name, p in parameters.items() if not p.is_floating_point() or not p.requires_grad}
    owners = {owner(name) for name in drawn if not builds[0][name].is_floating_point()}
    drawn |= {name for name in parameters if owner(name) in owners and name in differing}
    return sorted(drawn)


def owner(name):
    return name.rpartition(".")[0]


def same(one, other):
    return one.shape == other.shape and torch.equal(torch.nan_to_num(one), torch.nan_to_num(other))


def own_leaves(module, mode, forward, skipped=0):
    """What get_inputs() gives, flat. `skipped`: leading parameters of `forward`, such as self."""
    return Form(given_inputs(module, mode), forward, skipped).leaves()
