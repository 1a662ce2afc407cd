"""One generator for all random numbers: the one that Winnow seeds.

A file that seeds generators of its own would draw the same numbers for every launch.
"""

import contextlib

import torch


class Unseeded(torch.Generator):
    """In place of torch.Generator. Random functions are called without it: see without_own()."""

    def __new__(cls, device=None):
        return super().__new__(cls)  # no device of a GPU is needed

    def manual_seed(self, seed):
        return self


def without_own(values):
    """The keywords of a call, less a generator that is none."""
    return {key: value for key, value in values.items() if not isinstance(value, Unseeded)}


@contextlib.contextmanager
def without_own_seeds():
    """Within it, and under precision.Plain, manual_seed(0) and generators of the file do nothing."""
    kept = torch.manual_seed, torch.random.manual_seed, torch.Generator
    torch.manual_seed = torch.random.manual_seed = lambda seed: torch.default_generator
    torch.Generator = Unseeded
    try:
        yield
    finally:
        torch.manual_seed, torch.random.manual_seed, torch.Generator = kept
