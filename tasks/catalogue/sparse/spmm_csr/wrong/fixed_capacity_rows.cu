/*@winnow
{ "launches": [ { "kernel": "spmm", "grid": ["ceil_div(rows * n, 64)"], "block": [64],
                  "args": ["row_ptr", "col", "values", "b", "c", "rows * n", "n",
                           "16 + 2 * ceil_div(nnz, rows)"] } ] }
@*/
// Wrong: a row has room for 16 entries more than twice the usual number. Others are left out.
extern "C" __global__ void spmm(const int* row_ptr, const int* col, const float* values,
                                const float* b, float* c, long long count, int n, int room) {
  const long long at = blockIdx.x * 64LL + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int row = at / n, j = at % n;
  const int begin = row_ptr[row], end = min(row_ptr[row + 1], begin + room);
  float sum = 0.0f;
  for (int p = begin; p < end; ++p) {
    sum = fmaf(values[p], b[(size_t)col[p] * n + j], sum);
  }
  c[at] = sum;
}
