/*@winnow
{
  "scratch": { "means": { "dtype": "f32", "count": "rows" },
               "scales": { "dtype": "f32", "count": "rows" } },
  "launches": [
    { "kernel": "row_gradient", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
      "args": ["x", "gamma", "dy", "dx", "means", "scales", "eps", "rows", "cols"] },
    { "kernel": "column_gradients", "grid": ["ceil_div(cols, 32)"], "block": [32, 8],
      "args": ["x", "dy", "means", "scales", "dgamma", "dbeta", "rows", "cols"] }
  ]
}
@*/
// Wrong: E[x^2] - mean^2 keeps nothing of the variance behind a large mean. One warp a row, with
// one pass of four sums before the mean is known; then eight warps for 32 columns, whose sums meet
// in shared memory.
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}

extern "C" __global__ void row_gradient(const float* __restrict__ x,
                                        const float* __restrict__ gamma,
                                        const float* __restrict__ dy, float* __restrict__ dx,
                                        float* __restrict__ means, float* __restrict__ scales,
                                        float eps, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const size_t start = (size_t)row * cols;
  float sum = 0.0f, squares = 0.0f, shift = 0.0f, product = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float value = x[start + c], slope = dy[start + c] * gamma[c];
    sum += value;
    squares += value * value;
    shift += slope;
    product += slope * value;
  }
  const float mean = warp_sum(sum) / cols;
  const float scale = rsqrtf(fmaxf(warp_sum(squares) / cols - mean * mean, 0.0f) + eps);
  shift = warp_sum(shift) / cols;
  const float projection = (warp_sum(product) / cols - mean * shift) * scale;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float normalised = (x[start + c] - mean) * scale;
    dx[start + c] = scale * (dy[start + c] * gamma[c] - shift - normalised * projection);
  }
  if (threadIdx.x == 0) {
    means[row] = mean;
    scales[row] = scale;
  }
}

extern "C" __global__ void
column_gradients(const float* __restrict__ x, const float* __restrict__ dy,
                 const float* __restrict__ means, const float* __restrict__ scales,
                 float* __restrict__ dgamma, float* __restrict__ dbeta, int rows, int cols) {
  __shared__ float weighted_sums[8][33], sums[8][33];
  const int c = blockIdx.x * 32 + threadIdx.x;
  float weighted = 0.0f, sum = 0.0f;
  for (int row = threadIdx.y; row < rows && c < cols; row += 8) {
    const float slope = dy[(size_t)row * cols + c];
    weighted += slope * ((x[(size_t)row * cols + c] - means[row]) * scales[row]);
    sum += slope;
  }
  weighted_sums[threadIdx.y][threadIdx.x] = weighted;
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {
    for (int warp = 1; warp < 8; ++warp) {
      weighted += weighted_sums[warp][threadIdx.x];
      sum += sums[warp][threadIdx.x];
    }
    dgamma[c] = weighted;
    dbeta[c] = sum;
  }
}
