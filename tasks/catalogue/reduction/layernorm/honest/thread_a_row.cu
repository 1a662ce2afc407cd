/*@winnow
{
  "launches": [
    { "kernel": "layernorm", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols"] }
  ]
}
@*/
// One thread a row, three passes; factors in another order than usual.
extern "C" __global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                                     const float* __restrict__ beta, float* __restrict__ y,
                                     float eps, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + (size_t)row * cols;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += values[c];
  }
  const float mean = sum / cols;
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    squares = fmaf(values[c] - mean, values[c] - mean, squares);
  }
  const float scale = rsqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    const float factor = scale * gamma[c];
    y[(size_t)row * cols + c] = fmaf(values[c], factor, beta[c] - mean * factor);
  }
}
