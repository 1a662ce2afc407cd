"""What a good user of PyTorch would try for spmv_csr."""
import torch


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def running_sums(alpha, beta):
    """Differences of running sums, in double precision: rows of all lengths cost the same."""

    def products(col, values, x):
        return (values * x[col]).double()

    def differences(sums, row_ptr, z):
        upto = torch.where(row_ptr > 0, sums[(row_ptr - 1).clamp(min=0)], 0.0)
        return (alpha * (upto[1:] - upto[:-1]) + beta * z).float()

    first, last = compiled(products), compiled(differences)

    def call(row_ptr, col, values, x, z):
        return last(torch.cumsum(first(col, values, x), dim=0), row_ptr, z)

    return call


def by_rows(alpha, beta, row_ptr, col):
    """Each entry with its row; then atomic additions."""
    place = torch.arange(len(col), dtype=row_ptr.dtype, device=col.device)

    def add(row, col, values, x, z):
        return alpha * torch.zeros_like(z).index_add(0, row, values * x[col]) + beta * z

    fast_add = compiled(add)

    def call(row_ptr, col, values, x, z):
        row = torch.searchsorted(row_ptr, place, right=True, out_int32=True) - 1
        return fast_add(row, col, values, x, z)

    return call


def alternatives(model, row_ptr, col, values, x, z):
    """{name: function}. Every launch has another matrix: nothing of it is prepared."""
    alpha, beta = model.alpha, model.beta

    def matrix(row_ptr, col, values, x, z):
        size = (len(z), len(x))
        return torch.sparse_csr_tensor(row_ptr, col, values, size=size, check_invariants=False)

    def whole(row_ptr, col, values, x, z):
        a = matrix(row_ptr, col, values, x, z)
        return torch.addmv(z, a, x, beta=beta, alpha=alpha, out=torch.empty_like(z))

    def apart(row_ptr, col, values, x, z):
        return torch.add(beta * z, matrix(row_ptr, col, values, x, z) @ x, alpha=alpha)

    return {
        "cuSPARSE, CSR matrix, addmv": whole,
        "cuSPARSE, CSR matrix, then the sum": apart,
        "differences of running sums in double precision": running_sums(alpha, beta),
        "searchsorted, then compiled index_add": by_rows(alpha, beta, row_ptr, col),
    }
