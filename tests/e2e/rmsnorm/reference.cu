/*@winnow
{ "launches": [ { "kernel": "rmsnorm_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "weight", "y", "y_magnitude", "eps", "rows", "cols"] } ] }
@*/
extern "C" __global__ void rmsnorm_reference(const float* x, const float* weight, double* y,
                                             double* magnitude, float eps, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* values = x + (long long)row * cols;
  double squares = 0;
  for (int c = 0; c < cols; ++c) {
    squares += NARROW(square, (double)values[c] * values[c]);
  }
  const double scale = 1 / sqrt(squares / cols + eps);
  for (int c = 0; c < cols; ++c) {
    const long long at = (long long)row * cols + c;
    y[at] = values[c] * scale * weight[c];
    magnitude[at] = fabs(y[at]);
  }
}
