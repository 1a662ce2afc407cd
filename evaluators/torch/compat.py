"""What modules of today expect and torch 1.13 lacks."""

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
