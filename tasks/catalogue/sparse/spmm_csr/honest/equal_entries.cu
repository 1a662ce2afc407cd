/*@winnow
{
  "launches": [
    { "fill": "c", "value": 0 },
    { "kernel": "spmm", "grid": ["ceil_div(nnz, 64)"], "block": [32],
      "args": ["row_ptr", "col", "values", "b", "c", "rows", "nnz", "n"] }
  ]
}
@*/
// A warp for 64 entries, whatever rows these are in. The warp adds the share of each row by atomics.
extern "C" __global__ void spmm(const int* __restrict__ row_ptr, const int* __restrict__ col,
                                const float* __restrict__ values, const float* __restrict__ b,
                                float* c, int rows, int nnz, int n) {
  const int begin = blockIdx.x * 64, end = min(begin + 64, nnz);
  int low = 0, high = rows - 1; // the row of the first entry
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (row_ptr[middle + 1] <= begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (int j = threadIdx.x; j < n; j += 32) {
    int row = low;
    float sum = 0.0f;
    for (int p = begin; p < end; ++p) {
      while (row_ptr[row + 1] <= p) {
        if (sum != 0.0f) {
          atomicAdd(c + (size_t)row * n + j, sum);
        }
        sum = 0.0f;
        ++row;
      }
      sum += values[p] * b[(size_t)col[p] * n + j];
    }
    atomicAdd(c + (size_t)row * n + j, sum);
  }
}
