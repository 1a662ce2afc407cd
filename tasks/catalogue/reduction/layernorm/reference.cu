/*@winnow
{ "launches": [ { "kernel": "layernorm_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "gamma", "beta", "y", "y_magnitude", "eps", "rows", "cols"] } ] }
@*/
extern "C" __global__ void layernorm_reference(const float* x, const float* gamma,
                                               const float* beta, double* y, double* magnitude,
                                               float eps, long long rows, long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + row * cols;
  double mean = 0, size = 0;
  for (long long c = 0; c < cols; ++c) {
    mean += values[c];
    size += fabs((double)values[c]);
  }
  mean = NARROW(mean, mean / cols);
  size /= cols;
  double squares = 0, block = 0;
  for (long long c = 0; c < cols; ++c) {
    const double difference = NARROW(difference, values[c] - mean);
    block += difference * difference;
    if (c % 128 == 127 || c + 1 == cols) { // a block that a kernel adds up first
      squares += NARROW(partial_sum, block);
      block = 0;
    }
  }
  const double scale = NARROW(scale, 1 / sqrt(squares / cols + eps));
  for (long long c = 0; c < cols; ++c) {
    const double difference = NARROW(difference, values[c] - mean);
    const double normalised = NARROW(normalised, difference * scale) * gamma[c];
    y[row * cols + c] = normalised + beta[c];
    // The rounding of the mean moves each element; an offset adds nothing to the error of the
    // variance.
    magnitude[row * cols + c] = (fabs((double)values[c]) + size) * scale * fabs((double)gamma[c]) +
                                fabs(normalised) + fabs((double)beta[c]);
  }
}
