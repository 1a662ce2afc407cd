"""What a good user of PyTorch would try for scatter_add."""
import torch


def sparse_product(rows, items, device):
    """Items sorted by row are the entries of a sparse matrix of ones."""
    bounds = torch.arange(rows + 1, dtype=torch.int32, device=device)
    ones = torch.ones(items, device=device)

    def call(x, ids):
        chosen, order = torch.sort(ids)
        starts = torch.searchsorted(chosen, bounds, out_int32=True)
        matrix = torch.sparse_csr_tensor(
            starts, order.int(), ones, size=(rows, items), check_invariants=False
        )
        return matrix @ x

    return call


def alternatives(model, x, ids):
    """{name: function}. No input has the number of rows: reference.py has it as an integer."""
    rows = type(model).forward.__globals__["rows"]
    items, dim = x.shape

    def scatter(x, ids):
        index = ids.long().unsqueeze(1).expand(-1, dim)
        return x.new_zeros(rows, dim).scatter_add_(0, index, x)

    def accumulate(x, ids):
        return x.new_zeros(rows, dim).index_put_((ids.long(),), x, accumulate=True)

    def backward(x, ids):
        return torch.ops.aten.embedding_dense_backward(x, ids, rows, -1, False)

    return {
        "scatter_add": scatter,
        "index_put, which sorts": accumulate,
        "backward pass of embedding, which sorts": backward,
        "sort, then a sparse product": sparse_product(rows, items, x.device),
    }
