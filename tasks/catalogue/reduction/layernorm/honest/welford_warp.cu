/*@winnow
{
  "launches": [
    { "kernel": "layernorm", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
      "args": ["x", "gamma", "beta", "y", "eps", "rows", "cols"] }
  ]
}
@*/
// One warp a row: mean and variance in one pass (Welford), lanes merged by shuffles (Chan).
extern "C" __global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma,
                                     const float* __restrict__ beta, float* __restrict__ y,
                                     float eps, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const float* values = x + (size_t)row * cols;
  float count = 0.0f, mean = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    count += 1.0f;
    const float difference = values[c] - mean;
    mean += difference / count;
    squares += difference * (values[c] - mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffff, count, offset);
    const float other_mean = __shfl_xor_sync(0xffffffff, mean, offset);
    const float other_squares = __shfl_xor_sync(0xffffffff, squares, offset);
    const float both = count + other_count;
    if (both > 0.0f) {
      const float difference = other_mean - mean;
      squares += other_squares + difference * difference * (count * other_count / both);
      mean = (count * mean + other_count * other_mean) / both;
    }
    count = both;
  }
  const float scale = 1.0f / sqrtf(squares / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 32) {
    y[(size_t)row * cols + c] = (values[c] - mean) * scale * gamma[c] + beta[c];
  }
}
