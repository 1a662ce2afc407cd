/*@winnow
{
  "scratch": { "scales": { "dtype": "f32", "count": "rows" } },
  "launches": [
    { "kernel": "row_gradient", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["x", "weight", "dy", "dx", "scales", "eps", "rows", "cols"] },
    { "kernel": "column_gradient", "grid": ["ceil_div(cols, 32)"], "block": [32],
      "args": ["x", "dy", "scales", "dweight", "rows", "cols"] }
  ]
}
@*/
// One thread a row, then one thread a column: the longest chains of additions.
extern "C" __global__ void row_gradient(const float* x, const float* weight, const float* dy,
                                        float* dx, float* scales, float eps, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const size_t start = (size_t)row * cols;
  float squares = 0.0f, projection = 0.0f;
  for (int c = 0; c < cols; ++c) {
    squares += x[start + c] * x[start + c];
    projection += dy[start + c] * weight[c] * x[start + c];
  }
  const float scale = rsqrtf(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    dx[start + c] = scale * dy[start + c] * weight[c] -
                    x[start + c] * (scale * scale * scale * projection / cols);
  }
  scales[row] = scale;
}

extern "C" __global__ void column_gradient(const float* x, const float* dy, const float* scales,
                                           float* dweight, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) {
    return;
  }
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) {
    sum = fmaf(dy[(size_t)row * cols + c], x[(size_t)row * cols + c] * scales[row], sum);
  }
  dweight[c] = sum;
}
