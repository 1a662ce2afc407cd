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
  double sum = 0, block = 0;
  for (long long c = 0; c < cols; ++c) {
    block += NARROW(term, exp(scores[c] - largest));
    if (c % 128 == 127 || c + 1 == cols) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  for (long long c = 0; c < cols; ++c) {
    const double exponential = NARROW(exponential, exp(NARROW(difference, scores[c] - largest)));
    const double probability = exponential / sum;
    y[row * cols + c] = probability;
    // Rounding the exponent's argument moves the result in proportion to it.
    magnitude[row * cols + c] = probability * (1 + fabs(scores[c] - largest));
  }
}
