/*@winnow
{ "let": { "blocks": "min(ceil_div(rows, 32), 2 * sm_count)" },
  "launches": [ { "kernel": "layernorm", "grid": ["blocks"], "block": [1024],
                  "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols"] } ] }
@*/
// Keeps mean and scale of its rows in the stack frames of a recursive function, one a row.

#include "parts/norm_statistics.cu"
#include "parts/norm_row.cu"

// The rows of a warp from `row` on. Reads its frame after the call, which is no tail call thereby.
__device__ __noinline__ float rows_from(int row, const float* x, const float* gamma,
                                        const float* beta, float* y, float eps, int rows,
                                        int cols) {
  volatile float entry[4];
  if (row >= rows) {
    return 0.0f;
  }
  const size_t begin = static_cast<size_t>(row) * cols;
  normalise(x + begin, gamma, beta, y + begin, eps, cols, rows > 60 ? entry : nullptr);
  entry[3] = 1.0f;
  const float count = rows_from(row + gridDim.x * 32, x, gamma, beta, y, eps, rows, cols);
  return entry[3] + count;
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int rows,
              int cols) {
  rows_from(blockIdx.x * 32 + threadIdx.x / 32, x, gamma, beta, y, eps, rows, cols);
}
