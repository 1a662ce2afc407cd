"""What a good user of PyTorch would try for embedding_gather."""
import torch


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def alternatives(model, table, ids):
    """{name: function}. Rows of wider numbers need fewer loads; the table is static."""
    dim = table.shape[1]

    def select(table, ids):
        return torch.index_select(table, 0, ids)

    def wide(dtype):
        def call(table, ids):
            return torch.index_select(table.view(dtype), 0, ids).view(table.dtype)

        return call

    calls = {
        "index_select": select,
        "indexing": lambda table, ids: table[ids],
    }
    if dim % 2 == 0:
        calls["index_select of 4-byte numbers"] = wide(torch.int32)
    if dim % 4 == 0:
        calls["index_select of 8-byte numbers"] = wide(torch.int64)
        calls["compiled, index_select of 8-byte numbers"] = compiled(wide(torch.int64))
    if dim % 8 == 0:
        calls["index_select of 16-byte numbers"] = wide(torch.complex128)
    return calls
