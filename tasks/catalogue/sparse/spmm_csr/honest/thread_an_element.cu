/*@winnow
{ "launches": [ { "kernel": "spmm", "grid": ["ceil_div(rows * n, 64)"], "block": [64],
                  "args": ["row_ptr", "col", "values", "b", "c", "rows * n", "n"] } ] }
@*/
// One thread an element of c: the longest chain of additions.
extern "C" __global__ void spmm(const int* row_ptr, const int* col, const float* values,
                                const float* b, float* c, long long count, int n) {
  const long long at = blockIdx.x * 64LL + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int row = at / n, j = at % n;
  float sum = 0.0f;
  for (int p = row_ptr[row]; p < row_ptr[row + 1]; ++p) {
    sum = fmaf(values[p], b[(size_t)col[p] * n + j], sum);
  }
  c[at] = sum;
}
