/*@winnow
{
  "scratch": { "means": { "dtype": "f32", "count": "rows" },
               "scales": { "dtype": "f32", "count": "rows" } },
  "launches": [
    { "kernel": "row_gradient", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["x", "gamma", "dy", "dx", "means", "scales", "eps", "rows", "cols"] },
    { "kernel": "column_gradients", "grid": ["ceil_div(cols, 32)"], "block": [32],
      "args": ["x", "dy", "means", "scales", "dgamma", "dbeta", "rows", "cols"] }
  ]
}
@*/
// One thread a row, then one thread a column: the longest chains of additions.
extern "C" __global__ void row_gradient(const float* x, const float* gamma, const float* dy,
                                        float* dx, float* means, float* scales, float eps, int rows,
                                        int cols) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + (size_t)row * cols;
  const float* slopes = dy + (size_t)row * cols;
  float mean = 0.0f, squares = 0.0f, shift = 0.0f, projection = 0.0f;
  for (int c = 0; c < cols; ++c) {
    mean += values[c];
  }
  mean /= cols;
  for (int c = 0; c < cols; ++c) {
    squares = fmaf(values[c] - mean, values[c] - mean, squares);
  }
  const float scale = 1.0f / sqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    shift = fmaf(slopes[c], gamma[c], shift);
    projection += slopes[c] * gamma[c] * ((values[c] - mean) * scale);
  }
  for (int c = 0; c < cols; ++c) {
    const float normalised = (values[c] - mean) * scale;
    dx[(size_t)row * cols + c] =
        (slopes[c] * gamma[c] - (shift + normalised * projection) / cols) * scale;
  }
  means[row] = mean;
  scales[row] = scale;
}

extern "C" __global__ void column_gradients(const float* x, const float* dy, const float* means,
                                            const float* scales, float* dgamma, float* dbeta,
                                            int rows, int cols) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  if (c >= cols) {
    return;
  }
  float weighted = 0.0f, sum = 0.0f;
  for (int row = 0; row < rows; ++row) {
    const float slope = dy[(size_t)row * cols + c];
    weighted = fmaf(slope, (x[(size_t)row * cols + c] - means[row]) * scales[row], weighted);
    sum += slope;
  }
  dgamma[c] = weighted;
  dbeta[c] = sum;
}
