/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "layernorm<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols"] }
  ]
}
@*/
// A block is one thread with a few rows, which stay in the first cache; mean first, then the
// variance around it.
template <int ROWS>
__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                          const float* __restrict__ beta, float* __restrict__ y, float eps,
                          int rows, int cols) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const float* values = x + (size_t)row * cols;
    float* out = y + (size_t)row * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int c = 0; c < cols; ++c) {
      sum += values[c];
    }
    const float mean = sum / cols;
    for (int c = 0; c < cols; ++c) {
      squares += (values[c] - mean) * (values[c] - mean);
    }
    const float scale = 1.0f / sqrtf(squares / cols + eps);
    for (int c = 0; c < cols; ++c) {
      out[c] = (values[c] - mean) * scale * gamma[c] + beta[c];
    }
  }
}
