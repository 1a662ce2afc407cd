/*@winnow
{
  "scratch": { "scales": { "dtype": "f64", "count": "rows" } },
  "launches": [
    { "kernel": "dx_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["x", "weight", "dy", "dx", "dx_magnitude", "scales", "eps", "rows", "cols"] },
    { "kernel": "dweight_reference", "grid": ["ceil_div(cols, 32)"], "block": [32],
      "args": ["x", "dy", "scales", "dweight", "dweight_magnitude", "rows", "cols"] }
  ]
}
@*/
extern "C" __global__ void dx_reference(const float* x, const float* weight, const float* dy,
                                        double* dx, double* magnitude, double* scales, float eps,
                                        long long rows, long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  double squares = 0, block = 0, projection = 0, size = 0;
  for (long long c = 0; c < cols; ++c) {
    const double value = x[row * cols + c];
    const double scaled = NARROW(product, (double)dy[row * cols + c] * weight[c]);
    block += value * value;
    projection += scaled * value;
    size += fabs(scaled * value);
    if (c % 128 == 127 || c + 1 == cols) { // a block that a kernel adds up first
      squares += NARROW(partial_sum, block);
      block = 0;
    }
  }
  const double scale = NARROW(scale, 1 / sqrt(squares / cols + eps));
  scales[row] = scale;
  for (long long c = 0; c < cols; ++c) {
    const long long at = row * cols + c;
    const double scaled = NARROW(product, (double)dy[at] * weight[c]);
    const double factor = NARROW(normalised, x[at] * scale) * scale / cols;
    dx[at] = scale * (scaled - factor * projection);
    magnitude[at] = scale * (fabs(scaled) + fabs(factor) * size);
  }
}

extern "C" __global__ void dweight_reference(const float* x, const float* dy, const double* scales,
                                             double* dweight, double* magnitude, long long rows,
                                             long long cols) {
  const long long c = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (c >= cols) {
    return;
  }
  double sum = 0, size = 0;
  for (long long row = 0; row < rows; ++row) {
    const double term = NARROW(term, (double)dy[row * cols + c] * x[row * cols + c] * scales[row]);
    sum += term;
    size += fabs(term);
  }
  dweight[c] = sum;
  magnitude[c] = size;
}
