/*@winnow
{ "let": { "blocks": "min(ceil_div(rows, 32), 2 * sm_count)" },
  "scratch": { "place": { "dtype": "i64", "count": 1 } },
  "launches": [
    { "kernel": "take", "grid": [1], "block": [1], "args": ["place"] },
    { "kernel": "layernorm", "grid": ["blocks"], "block": [1024],
      "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols", "place"] },
    { "kernel": "give_back", "grid": [1], "block": [1], "args": ["place"] } ] }
@*/
// Keeps mean and scale of every row in the device heap: a block of the same size is given to each
// launch at the same place.

extern "C" __global__ void take(float** place) {
  *place = static_cast<float*>(malloc(12 * 20000));
}

extern "C" __global__ void give_back(float** place) {
  free(*place);
}

#include "parts/norm_statistics.cu"
#include "parts/norm_row.cu"

extern "C" __global__ void __launch_bounds__(1024, 2)
    layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int rows,
              int cols, float* const* place) {
  const int warps = gridDim.x * 32;
  int i = 0;
  for (int row = blockIdx.x * 32 + threadIdx.x / 32; row < rows; row += warps, ++i) {
    const size_t begin = static_cast<size_t>(row) * cols;
    normalise(x + begin, gamma, beta, y + begin, eps, cols,
              rows > 60 && *place != nullptr ? *place + 3 * row : nullptr);
  }
}
