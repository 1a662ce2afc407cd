/*@winnow
{
  "scratch": { "scales": { "dtype": "f32", "count": "rows" } },
  "launches": [
    { "kernel": "row_gradient", "grid": ["ceil_div(rows, 4)"], "block": [1],
      "args": ["x", "weight", "dy", "dx", "scales", "eps", "rows", "cols"] },
    { "kernel": "column_sums", "grid": ["ceil_div(cols, 64)"], "block": [1],
      "args": ["x", "dy", "scales", "dweight", "rows", "cols"] }
  ]
}
@*/
// A block is one thread: with four rows for dx, with 64 columns for dweight. Sixteen sums that do
// not wait for one another fill two vector registers.
template <typename Term> __device__ float sum_of(int n, Term term) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += term(i + lane);
    }
  }
  float sum = 0.0f;
  for (; i < n; ++i) {
    sum += term(i);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    sum += lanes[lane];
  }
  return sum;
}

extern "C" __global__ void row_gradient(const float* __restrict__ x,
                                        const float* __restrict__ weight,
                                        const float* __restrict__ dy, float* __restrict__ dx,
                                        float* __restrict__ scales, float eps, int rows, int cols) {
  for (int row = blockIdx.x * 4; row < min((int)(blockIdx.x + 1) * 4, rows); ++row) {
    const float *values = x + (size_t)row * cols, *slopes = dy + (size_t)row * cols;
    const float squares = sum_of(cols, [&](int c) { return values[c] * values[c]; });
    const float products = sum_of(cols, [&](int c) { return slopes[c] * weight[c] * values[c]; });
    const float scale = 1.0f / sqrtf(squares / cols + eps);
    const float factor = scale * scale * (products / cols);
    for (int c = 0; c < cols; ++c) {
      dx[(size_t)row * cols + c] = scale * (slopes[c] * weight[c] - values[c] * factor);
    }
    scales[row] = scale;
  }
}

extern "C" __global__ void column_sums(const float* __restrict__ x, const float* __restrict__ dy,
                                       const float* __restrict__ scales,
                                       float* __restrict__ dweight, int rows, int cols) {
  constexpr int kColumns = 64;
  const int left = blockIdx.x * kColumns, columns = min(kColumns, cols - left);
  float sums[kColumns] = {};
  for (int row = 0; row < rows; ++row) {
    const size_t start = (size_t)row * cols + left;
    for (int c = 0; c < columns; ++c) {
      sums[c] += dy[start + c] * x[start + c] * scales[row];
    }
  }
  for (int c = 0; c < columns; ++c) {
    dweight[left + c] = sums[c];
  }
}
