import torch
import torch.nn as nn


class Model(nn.Module):
    """C = A B for a sparse matrix A in CSR form and a dense matrix B"""

    def __init__(self):
        super().__init__()

    def forward(self, row_ptr: torch.Tensor, col: torch.Tensor, values: torch.Tensor,
                b: torch.Tensor) -> torch.Tensor:
        lengths = (row_ptr[1:] - row_ptr[:-1]).long()
        rows = len(lengths)
        row = torch.repeat_interleave(torch.arange(rows, device=b.device), lengths)
        c = torch.zeros(rows, b.shape[1], dtype=b.dtype, device=b.device)
        return c.index_add(0, row, values[:, None] * b[col.long()])


rows, cols, nnz, n = 169343, 169343, 1166243, 128


def get_inputs():
    row_ptr = torch.randint(nnz + 1, (rows + 1,)).sort().values.int()
    row_ptr[0], row_ptr[-1] = 0, nnz
    # Columns that ascend in each row: equal parts of the columns, a random column in each part.
    lengths = (row_ptr[1:] - row_ptr[:-1]).long()
    row = torch.repeat_interleave(torch.arange(rows), lengths)
    place = torch.arange(nnz) - row_ptr.long()[row]
    low = place * cols // lengths[row]
    width = (place + 1) * cols // lengths[row] - low
    col = (low + (torch.rand(nnz, dtype=torch.float64) * width).long()).int()
    return [row_ptr, col, torch.randn(nnz), torch.randn(cols, n)]


def get_init_inputs():
    return []
