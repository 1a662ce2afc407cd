"""What a good user of PyTorch would try for gemm_sparse_weights."""
import torch
import torch.nn.functional as F


def compiled(function):
    return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False)


def runs(call, x):
    """Whether this version has the call, and a kernel for the shape."""
    try:
        call(x)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return False
    return True


def dense(w):
    """Products that read the zeros, too; forward() multiplies in single precision."""
    n, k = w.shape
    columns = w.t().contiguous()
    wide = F.pad(w, (0, -k % 8, 0, -n % 8))

    def single(x):
        return torch.mm(x, w.t(), out_dtype=torch.float32).to(torch.float16)

    def padded(x):
        return F.linear(F.pad(x, (0, -k % 8)), wide)[:, :n].contiguous()

    calls = {
        "dense, f16": lambda x: F.linear(x, w),
        "dense, f16, columns": lambda x: torch.mm(x, columns),
        "dense, f16, sums in single precision": single,
    }
    if n % 8 or k % 8:
        calls["dense, f16, copies with aligned rows"] = padded
    return calls


def sparse(w):
    """cuSPARSE's products by a matrix in CSR form, with 32-bit indices."""
    calls = {}
    for name, kind in (("f16", torch.float16), ("f32", torch.float32)):
        matrix = w.to(kind).to_sparse_csr()
        matrix = torch.sparse_csr_tensor(
            matrix.crow_indices().int(), matrix.col_indices().int(), matrix.values(), size=w.shape
        )

        def call(x, matrix=matrix, kind=kind):
            return (matrix @ x.t().to(kind)).t().to(torch.float16).contiguous()

        def with_columns(x, matrix=matrix, kind=kind):
            columns = x.t().contiguous().to(kind)
            return (matrix @ columns).t().to(torch.float16).contiguous()

        calls[f"CSR weights, {name}"] = call
        calls[f"CSR weights, {name}, x by columns"] = with_columns
    return calls


def two_of_four(w):
    """Of each four of w at most two that are not 0, as sparse tensor cores want; and the rest."""
    n, k = w.shape
    fours = F.pad(w, (0, -k % 4)).reshape(n, -1, 4)
    rank = (fours != 0).cumsum(dim=2)
    first = torch.where(rank <= 2, fours, torch.zeros_like(fours))
    return [part.flatten(1)[:, :k].contiguous() for part in (first, fours - first)]


def semi_structured(w):
    """Two products by 2:4 sparse weights side by side, in one: the sums are rounded once."""
    from torch.sparse import to_sparse_semi_structured

    both = to_sparse_semi_structured(torch.cat(two_of_four(w), dim=1))
    return {"2:4 sparse, in two parts": lambda x: F.linear(torch.cat([x, x], dim=1), both)}


def alternatives(model, x, w):
    """{name: function}. w is static."""
    calls = dense(w)
    for form in (sparse, semi_structured):
        try:
            calls.update(form(w))
        except (AttributeError, ImportError, RuntimeError, TypeError, ValueError):
            pass  # this version has no such form, or not for these sizes
    calls = {name: call for name, call in calls.items() if runs(call, x)}
    if hasattr(torch, "compile"):
        calls["compiled, dense, f16"] = compiled(lambda x: F.linear(x, w))
        columns = w.t().contiguous()
        calls["compiled, dense, f16, columns"] = compiled(lambda x: torch.mm(x, columns))
    return {name: lambda x, w, call=call: call(x) for name, call in calls.items()}
