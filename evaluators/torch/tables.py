"""Index tensors that must fit each other: page tables, offsets of sequences, places of states.

FlashInfer's names say what they are, and the axes how much they divide. They are drawn together:
with a causal mask no sequence may have fewer keys than queries.
"""

import torch

from noise import LARGEST_SEED

LENGTHS = {"kv_indptr": ("num_kv_indices", "total_kv"), "qo_indptr": ("total_q",),
           "cu_seqlens": ("total_seq_len",)}  # fmt: skip
PLACES = {"state_batch_indices": "state_cache_size", "initial_state_indices": "pool_size"}
MEANING = {
    "qo_indptr": "offsets of the sequences, ascending from 0; each has at least one query",
    "kv_indptr": "offsets of the sequences, ascending from 0; each has at least one element",
    "cu_seqlens": "offsets of the sequences, ascending from 0; each has at least one element",
    "kv_indices": "page numbers, all different while there are enough pages",
    "kv_last_page_len": "from 1 to the page size",
    "state_batch_indices": "different places of states",
    "initial_state_indices": "different places of states",
}
KNOWN = frozenset(MEANING)


def build(specs, axes, seed):
    """{name: tensor} for the tables that `specs` (name, shape) name."""
    random = torch.Generator().manual_seed(seed % LARGEST_SEED)
    shapes = {spec["name"]: spec["shape"] for spec in specs}
    unknown = sorted(set(shapes) - KNOWN)
    if unknown:
        raise ValueError(f"no rule builds the input '{unknown[0]}'")
    queries, keys, found = None, None, {}
    if "qo_indptr" in shapes:
        queries = composition(axes["total_q"], shapes["qo_indptr"][0] - 1, 1, random)
        found["qo_indptr"] = offsets(queries)
    page = axes.get("page_size", 1)
    if "kv_indptr" in shapes:
        count = shapes["kv_indptr"][0] - 1
        least = 1 if queries is None else (queries + page - 1) // page
        keys = composition(total(axes, "kv_indptr"), count, least, random)
        found["kv_indptr"] = offsets(keys)
    if "cu_seqlens" in shapes:
        lengths = composition(total(axes, "cu_seqlens"), shapes["cu_seqlens"][0] - 1, 1, random)
        found["cu_seqlens"] = offsets(lengths)
    if "kv_indices" in shapes:
        found["kv_indices"] = distinct(shapes["kv_indices"][0], axes["num_pages"], random)
    if "kv_last_page_len" in shapes:
        found["kv_last_page_len"] = last_pages(shapes["kv_last_page_len"][0], queries, keys, page, random)
    for name, axis in PLACES.items():
        if name in shapes:
            found[name] = distinct(shapes[name][0], axes[axis], random)
    return found


def total(axes, table):
    for axis in LENGTHS[table]:
        if axis in axes:
            return axes[axis]
    raise ValueError(f"no axis says how much '{table}' divides: {' or '.join(LENGTHS[table])}")


def composition(whole, parts, least, random):
    """`parts` numbers of at least `least` that add up to `whole`; every one is as likely."""
    least = torch.as_tensor(least).expand(parts)
    rest = whole - int(least.sum())
    if parts < 1 or rest < 0:
        raise ValueError(f"{whole} cannot be divided into {parts} parts of at least {least.tolist()[:4]}")
    bars = torch.randperm(rest + parts - 1, generator=random)[: parts - 1].sort().values
    ends = torch.cat([torch.tensor([-1]), bars, torch.tensor([rest + parts - 1])])
    return least + ends.diff() - 1


def offsets(lengths):
    return torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])


def distinct(count, limit, random):
    """Different numbers below `limit` as long as there are enough."""
    rounds = -(-count // limit)
    drawn = [torch.randperm(limit, generator=random) for _ in range(rounds)]
    return torch.cat(drawn)[:count]


def last_pages(count, queries, keys, page, random):
    """How many tokens the last page of each sequence holds: enough for its queries."""
    drawn = torch.randint(1, page + 1, (count,), generator=random)
    if queries is not None and keys is not None:
        least = (queries - (keys - 1) * page).clamp(min=1)
        drawn[: len(least)] = torch.maximum(drawn[: len(least)], least)
    return drawn
