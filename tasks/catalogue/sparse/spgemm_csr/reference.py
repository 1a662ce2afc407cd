import torch
import torch.nn as nn


class Model(nn.Module):
    """c = a b for sparse matrices in CSR form, with ascending columns, padded with -1"""

    def forward(self, ptr_a: torch.Tensor, col_a: torch.Tensor, val_a: torch.Tensor,
                ptr_b: torch.Tensor, col_b: torch.Tensor,
                val_b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        device = val_a.device
        a_row = torch.repeat_interleave(torch.arange(rows, device=device), ptr_a.diff().long())
        # One product for each entry of a and each entry of the row of b that it meets.
        lengths = ptr_b.diff().long()[col_a.long()]
        p = torch.repeat_interleave(torch.arange(nnz, device=device), lengths)
        before = lengths.cumsum(0) - lengths
        q = ptr_b.long()[col_a.long()][p] + torch.arange(len(p), device=device) - before[p]
        places, at = torch.unique(a_row[p] * cols + col_b.long()[q], return_inverse=True)
        ptr_c = torch.zeros(rows + 1, dtype=torch.int32, device=device)
        ptr_c[1:] = torch.bincount(places // cols, minlength=rows).cumsum(0)
        col_c = torch.full((nnz * b_len,), -1, dtype=torch.int32, device=device)
        col_c[: len(places)] = (places % cols).int()
        val_c = torch.full((nnz * b_len,), -1, dtype=val_a.dtype, device=device)
        val_c[: len(places)] = 0
        return ptr_c, col_c, val_c.index_add(0, at, val_a[p] * val_b[q])


rows, inner, cols, nnz, b_len = 32768, 4096, 2048, 1048576, 32


def columns_of(row_ptr, columns):
    # Columns that ascend in each row: equal parts of the columns, a random column in each part.
    lengths = row_ptr.diff().long()
    row = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    place = torch.arange(len(row)) - row_ptr.long()[row]
    low = place * columns // lengths[row]
    width = (place + 1) * columns // lengths[row] - low
    return (low + (torch.rand(len(row), dtype=torch.float64) * width).long()).int()


def get_inputs():
    ptr_a = torch.randint(nnz + 1, (rows + 1,)).sort().values.int()
    ptr_a[0], ptr_a[-1] = 0, nnz
    ptr_b = (torch.arange(inner + 1) * b_len).int()
    return [
        ptr_a, columns_of(ptr_a, inner), torch.randn(nnz),
        ptr_b, columns_of(ptr_b, cols), torch.randn(inner * b_len),
    ]


def get_init_inputs():
    return []
