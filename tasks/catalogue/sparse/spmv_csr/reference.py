import torch
import torch.nn as nn


class Model(nn.Module):
    """y = alpha * A x + beta * z for a sparse matrix A in CSR form"""

    def __init__(self, alpha: float, beta: float):
        super().__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, row_ptr: torch.Tensor, col: torch.Tensor, values: torch.Tensor,
                x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        lengths = (row_ptr[1:] - row_ptr[:-1]).long()
        row = torch.repeat_interleave(torch.arange(len(z), device=z.device), lengths)
        product = torch.zeros_like(z).index_add(0, row, values * x[col.long()])
        return self.alpha * product + self.beta * z


rows, cols, nnz = 5558326, 5558326, 59524291


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
    return [row_ptr, col, torch.randn(nnz), torch.randn(cols), torch.randn(rows)]


def get_init_inputs():
    return [1.5, 0.5]
