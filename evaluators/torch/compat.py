"""What modules of today expect and torch 1.13 lacks, and what fake tensors lack."""

import contextlib
import math

import torch
import torch.nn.functional as functional


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    scores = query @ key.transpose(-2, -1) * (scale or 1 / math.sqrt(query.shape[-1]))
    if is_causal:
        rows, columns = scores.shape[-2:]
        attn_mask = torch.ones(rows, columns, dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return functional.dropout(torch.softmax(scores, -1), dropout_p) @ value


def add_missing():
    if not hasattr(functional, "scaled_dot_product_attention"):
        functional.scaled_dot_product_attention = attention


@contextlib.contextmanager
def replacing_parameters():
    """Modules of fake tensors can change their dtype: PyTorch 2 wants to swap the tensors, and cannot."""
    kept, known, depth = torch.nn.Module._apply, {}, [0]

    def apply(self, fn, *args, **kwargs):
        depth[0] += 1
        try:
            for part in self.children():
                part._apply(fn)
            for name, parameter in self._parameters.items():
                if parameter is not None:
                    self._parameters[name] = replaced(parameter, fn, known)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        finally:
            depth[0] -= 1
            if depth[0] == 0:
                known.clear()  # shared parameters stay shared within one call
        return self

    torch.nn.Module._apply = apply
    try:
        yield
    finally:
        torch.nn.Module._apply = kept


def replaced(parameter, fn, known):
    if id(parameter) not in known:
        with torch.no_grad():
            fresh = torch.nn.Parameter(fn(parameter), requires_grad=parameter.requires_grad)
        known[id(parameter)] = (parameter, fresh)  # holds the old one, so that ids stay
    return known[id(parameter)][1]
