/*@winnow
{ "launches": [ { "kernel": "loss_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["logits", "labels", "loss", "loss_magnitude", "rows", "classes"] } ] }
@*/
extern "C" __global__ void loss_reference(const float* logits, const int* labels, double* loss,
                                          double* magnitude, long long rows, long long classes) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = logits + row * classes;
  double largest = scores[0];
  for (long long c = 1; c < classes; ++c) {
    largest = fmax(largest, (double)scores[c]);
  }
  double sum = 0, block = 0, arguments = 0;
  for (long long c = 0; c < classes; ++c) {
    const double term = NARROW(term, exp(NARROW(difference, scores[c] - largest)));
    block += term;
    arguments += term * (largest - scores[c]);
    if (c % 128 == 127 || c + 1 == classes) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  const double chosen = scores[labels[row]];
  loss[row] = NARROW(logarithm, log(sum)) + (largest - chosen);
  // One for the sum, and what rounding the exponents' arguments moves. The logarithm may be rounded
  // after the maximum is added, as may the loss.
  magnitude[row] = 1 + arguments / sum + log(sum) + fabs(largest) + fabs(chosen);
}
