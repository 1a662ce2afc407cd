/*@winnow
{ "launches": [ { "kernel": "cumsum", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "y", "rows", "cols"] } ] }
@*/
// One thread a row: the longest chain of additions.
extern "C" __global__ void cumsum(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)row * cols + c];
    y[(size_t)row * cols + c] = sum;
  }
}
