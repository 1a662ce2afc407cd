"""What a good user of PyTorch would try for spgemm_csr."""
import torch
import torch.nn.functional as F

MOST_PLACES = 2**28  # of a dense c, one for each row and column


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def runs(call, *inputs):
    """Whether this version has the call."""
    try:
        call(*inputs)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return False
    return True


class Sizes:
    def __init__(self, model, ptr_a, ptr_b, col_a, col_b):
        self.rows, self.inner = len(ptr_a) - 1, len(ptr_b) - 1
        self.cols = type(model).forward.__globals__["cols"]
        self.b_len = len(col_b) // self.inner
        self.room = len(col_a) * self.b_len
        self.device = col_a.device


def filled(sizes, ptr, col, val):
    """The arrays of c, of which the places that stay free are -1."""
    more = (0, sizes.room - len(col))
    return ptr.int(), F.pad(col.int(), more, value=-1), F.pad(val, more, value=-1)


def as_csr(sizes, index):
    """cuSPARSE's product of matrices in CSR form, with indices of this type."""

    def matrix(ptr, col, val, size):
        return torch.sparse_csr_tensor(ptr.to(index), col.to(index), val, size=size)

    def call(ptr_a, col_a, val_a, ptr_b, col_b, val_b):
        a = matrix(ptr_a, col_a, val_a, (sizes.rows, sizes.inner))
        b = matrix(ptr_b, col_b, val_b, (sizes.inner, sizes.cols))
        c = a @ b
        return filled(sizes, c.crow_indices(), c.col_indices(), c.values())

    return call


def row_of_entries(ptr, count):
    place = torch.arange(count, dtype=ptr.dtype, device=ptr.device)
    return torch.searchsorted(ptr, place, right=True) - 1


def as_coo(sizes):
    """The product of matrices in COO form, sorted by coalesce()."""
    bounds = torch.arange(sizes.rows + 1, device=sizes.device)

    def matrix(ptr, col, val, size):
        indices = torch.stack([row_of_entries(ptr, len(col)), col.long()])
        return torch.sparse_coo_tensor(indices, val, size)._coalesced_(True)

    def call(ptr_a, col_a, val_a, ptr_b, col_b, val_b):
        a = matrix(ptr_a, col_a, val_a, (sizes.rows, sizes.inner))
        b = matrix(ptr_b, col_b, val_b, (sizes.inner, sizes.cols))
        c = torch.sparse.mm(a, b)._coalesced_(False).coalesce()
        row, col = c.indices()
        return filled(sizes, torch.searchsorted(row, bounds), col, c.values())

    return call


def places_and_products(sizes, ptr_a, col_a, val_a, col_b, val_b):
    """For each entry of a and each of the row of b that it meets: row * cols + column, product."""
    of_b = (sizes.inner, sizes.b_len)
    columns = col_b.view(of_b).index_select(0, col_a)
    products = val_a.unsqueeze(1) * val_b.view(of_b).index_select(0, col_a)
    row = row_of_entries(ptr_a, len(col_a))
    if sizes.rows * sizes.cols < 2**31:
        row = row.int()
    return (row.unsqueeze(1) * sizes.cols + columns).flatten(), products.flatten()


def by_sorting(sizes):
    """Sorted products; those of one place are neighbours. No call waits for a number of them."""
    is_small = sizes.rows * sizes.cols < 2**31
    bounds = torch.arange(sizes.rows + 1, device=sizes.device) * sizes.cols
    bounds = bounds.int() if is_small else bounds
    place = torch.arange(sizes.room, device=sizes.device)

    def call(ptr_a, col_a, val_a, ptr_b, col_b, val_b):
        keys, products = places_and_products(sizes, ptr_a, col_a, val_a, col_b, val_b)
        keys, order = torch.sort(keys)
        first = F.pad((keys[1:] != keys[:-1]).long(), (1, 0), value=1)
        through = first.cumsum(0)
        before = F.pad(through, (1, 0))
        at = through - 1
        ptr = before.index_select(0, torch.searchsorted(keys, bounds)).int()
        col = torch.full((sizes.room,), -1, dtype=torch.int32, device=sizes.device)
        col = col.scatter(0, at, (keys % sizes.cols).int())
        sums = torch.zeros_like(products).index_add(0, at, products.index_select(0, order))
        return ptr, col, torch.where(place < through[-1], sums, -torch.ones_like(sums))

    return call


def by_dense_sums(sizes):
    """A dense c with a count of the products at each place."""
    bounds = torch.arange(sizes.rows + 1, device=sizes.device) * sizes.cols

    def call(ptr_a, col_a, val_a, ptr_b, col_b, val_b):
        keys, products = places_and_products(sizes, ptr_a, col_a, val_a, col_b, val_b)
        total = sizes.rows * sizes.cols
        dense = torch.zeros(total, dtype=products.dtype, device=sizes.device)
        dense.index_add_(0, keys, products)
        used = torch.zeros(total, dtype=torch.bool, device=sizes.device)
        used.index_fill_(0, keys.long(), True)
        places = used.nonzero().flatten()
        ptr = torch.searchsorted(places, bounds)
        return filled(sizes, ptr, places % sizes.cols, dense.index_select(0, places))

    return call


def by_dense_products(sizes):
    """Dense products: one of values, and one of ones for where c has an entry."""
    bounds = torch.arange(sizes.rows + 1, device=sizes.device) * sizes.cols
    kind = torch.float16 if sizes.device.type == "cuda" else torch.float32

    def dense(ptr, col, val, columns):
        matrix = torch.zeros(len(ptr) - 1, columns, dtype=val.dtype, device=val.device)
        at = row_of_entries(ptr, len(col)) * columns + col
        matrix.view(-1).index_copy_(0, at, val)
        ones = torch.zeros(matrix.shape, dtype=kind, device=val.device)
        ones.view(-1).index_fill_(0, at, 1)
        return matrix, ones

    def call(ptr_a, col_a, val_a, ptr_b, col_b, val_b):
        a, ones_a = dense(ptr_a, col_a, val_a, sizes.inner)
        b, ones_b = dense(ptr_b, col_b, val_b, sizes.cols)
        places = torch.mm(ones_a, ones_b).flatten().nonzero().flatten()
        ptr = torch.searchsorted(places, bounds)
        values = torch.mm(a, b).flatten().index_select(0, places)
        return filled(sizes, ptr, places % sizes.cols, values)

    return call


def alternatives(model, ptr_a, col_a, val_a, ptr_b, col_b, val_b):
    """{name: function}. Every launch has other matrices: nothing of them is prepared."""
    sizes = Sizes(model, ptr_a, ptr_b, col_a, col_b)
    inputs = (ptr_a, col_a, val_a, ptr_b, col_b, val_b)
    calls = {
        "cuSPARSE, CSR matrices": as_csr(sizes, torch.int32),
        "cuSPARSE, CSR matrices, 64-bit indices": as_csr(sizes, torch.int64),
        "torch.sparse.mm of COO matrices": as_coo(sizes),
        "sort of all products": by_sorting(sizes),
    }
    if max(sizes.rows, sizes.inner) * max(sizes.inner, sizes.cols) <= MOST_PLACES:
        calls["sums in a dense matrix, then nonzero"] = by_dense_sums(sizes)
        calls["dense products, then nonzero"] = by_dense_products(sizes)
    calls = {name: call for name, call in calls.items() if runs(call, *inputs)}
    if hasattr(torch, "compile"):
        calls["compiled, sort of all products"] = compiled(by_sorting(sizes))
    return calls
