/*@winnow
{ "launches": [ { "kernel": "softmax_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "y", "y_magnitude", "rows", "cols"] } ] }
@*/
extern "C" __global__ void softmax_reference(const float* x, double* y, double* magnitude,
                                             long long rows, long long cols) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = x + row * cols;
  double largest = scores[0];
  for (long long c = 1; c < cols; ++c) {
    largest = fmax(largest, (double)scores[c]);
  }
  double sum = 0;
  for (long long c = 0; c < cols; ++c) {
    sum += exp(scores[c] - largest);
  }
  for (long long c = 0; c < cols; ++c) {
    const double probability = exp(scores[c] - largest) / sum;
    y[row * cols + c] = probability;
    // Rounding the exponent's argument moves the result in proportion to it.
    magnitude[row * cols + c] = probability * (1 + fabs(scores[c] - largest));
  }
}
