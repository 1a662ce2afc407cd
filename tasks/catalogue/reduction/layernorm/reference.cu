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
  mean /= cols;
  size /= cols;
  double variance = 0;
  for (long long c = 0; c < cols; ++c) {
    variance += (values[c] - mean) * (values[c] - mean);
  }
  variance /= cols;
  const double scale = 1 / sqrt(variance + eps);
  for (long long c = 0; c < cols; ++c) {
    const double normalised = (values[c] - mean) * scale * gamma[c];
    y[row * cols + c] = normalised + beta[c];
    magnitude[row * cols + c] = (fabs((double)values[c]) + size) * scale * fabs((double)gamma[c]) +
                                fabs(normalised) + fabs((double)beta[c]);
  }
}
