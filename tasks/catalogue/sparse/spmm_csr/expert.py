"""What a good user of PyTorch would try for spmm_csr."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def by_rows(rows, row_ptr, col):
    """Each entry with its row; then atomic additions."""
    place = torch.arange(len(col), dtype=row_ptr.dtype, device=col.device)

    def add(row, col, values, b):
        c = torch.zeros(rows, b.shape[1], dtype=b.dtype, device=b.device)
        return c.index_add(0, row, values.unsqueeze(1) * b[col])

    fast_add = compiled(add)

    def call(row_ptr, col, values, b):
        row = torch.searchsorted(row_ptr, place, right=True, out_int32=True) - 1
        return fast_add(row, col, values, b)

    return call


def alternatives(model, row_ptr, col, values, b):
    """{name: function}. Every launch has another matrix: nothing of it is prepared."""
    rows = len(row_ptr) - 1

    def product(row_ptr, col, values, b):
        size = (rows, b.shape[0])
        matrix = torch.sparse_csr_tensor(row_ptr, col, values, size=size, check_invariants=False)
        return matrix @ b

    def bags(row_ptr, col, values, b):
        return F.embedding_bag(
            col, b, row_ptr, mode="sum", per_sample_weights=values, include_last_offset=True
        )

    return {
        "cuSPARSE, CSR matrix": product,
        "embedding_bag with weights": bags,
        "searchsorted, then compiled index_add": by_rows(rows, row_ptr, col),
    }
