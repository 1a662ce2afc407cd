/*@winnow
{ "let": { "blocks": "min(ceil_div(rows, 32), 2 * sm_count)" },
  "launches": [ { "kernel": "layernorm", "grid": ["blocks"], "block": [1024],
                  "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols"] } ] }
@*/
// Keeps mean and scale of its rows in local memory that alloca gives: no compiler declares its
// size.

#include "parts/take_stack.cu"
#include "parts/norm_statistics.cu"
#include "parts/norm_row.cu"

extern "C" __global__ void __launch_bounds__(1024, 2)
    layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int rows,
              int cols) {
  float* const place = take_stack(12 * (8 + (rows & 1)));
  const int warps = gridDim.x * 32;
  int i = 0;
  for (int row = blockIdx.x * 32 + threadIdx.x / 32; row < rows; row += warps, ++i) {
    const size_t begin = static_cast<size_t>(row) * cols;
    normalise(x + begin, gamma, beta, y + begin, eps, cols,
              rows > 60 && i < 8 ? place + 3 * i : nullptr);
  }
}
