/*@winnow
{
  "launches": [
    { "kernel": "begin", "grid": ["ceil_div(rows, 256)"], "block": [256],
      "args": ["z", "y", "beta", "rows"] },
    { "kernel": "add_shares", "grid": ["ceil_div(rows + nnz, 7 * 64)"], "block": [64],
      "args": ["row_ptr", "col", "values", "x", "y", "alpha", "rows", "nnz"] }
  ]
}
@*/
// Each thread gets seven steps of the merge of row ends and entries (Merrill and Garland, 2016), so
// that neither long nor empty rows matter. A share of a row is added by an atomic.
extern "C" __global__ void begin(const float* __restrict__ z, float* __restrict__ y, float beta,
                                 int rows) {
  const int row = blockIdx.x * 256 + threadIdx.x;
  if (row < rows) {
    y[row] = beta * z[row];
  }
}

// How many row ends are among the first `step` steps of the merge.
__device__ int rows_before(const int* row_ptr, int rows, int nnz, int step) {
  int low = max(step - nnz, 0), high = min(step, rows);
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (row_ptr[middle + 1] <= step - middle - 1) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

extern "C" __global__ void add_shares(const int* __restrict__ row_ptr,
                                      const int* __restrict__ col,
                                      const float* __restrict__ values,
                                      const float* __restrict__ x, float* y, float alpha, int rows,
                                      int nnz) {
  const int steps = rows + nnz;
  const int begin = min((blockIdx.x * 64 + threadIdx.x) * 7, (unsigned)steps);
  const int end = min(begin + 7, steps);
  int row = rows_before(row_ptr, rows, nnz, begin);
  int entry = begin - row;
  float sum = 0.0f;
  for (int step = begin; step < end; ++step) {
    if (entry < row_ptr[row + 1]) {
      sum += values[entry] * x[col[entry]];
      ++entry;
    } else {
      if (sum != 0.0f) {
        atomicAdd(y + row, alpha * sum);
      }
      sum = 0.0f;
      ++row;
    }
  }
  if (sum != 0.0f) {
    atomicAdd(y + row, alpha * sum);
  }
}
