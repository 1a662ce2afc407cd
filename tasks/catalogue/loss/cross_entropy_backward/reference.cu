/*@winnow
{ "launches": [ { "kernel": "gradient_reference", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["logits", "labels", "dloss", "dlogits", "dlogits_magnitude", "rows",
                           "classes"] } ] }
@*/
extern "C" __global__ void gradient_reference(const float* logits, const int* labels,
                                              const float* dloss, double* dlogits,
                                              double* magnitude, long long rows,
                                              long long classes) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* scores = logits + row * classes;
  double largest = scores[0];
  for (long long c = 1; c < classes; ++c) {
    largest = fmax(largest, (double)scores[c]);
  }
  double sum = 0, block = 0;
  for (long long c = 0; c < classes; ++c) {
    block += NARROW(term, exp(scores[c] - largest));
    if (c % 128 == 127 || c + 1 == classes) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  const double slope = dloss[row];
  for (long long c = 0; c < classes; ++c) {
    const long long at = row * classes + c;
    const double exponential = NARROW(exponential, exp(NARROW(difference, scores[c] - largest)));
    const double p = NARROW(probability, exponential / sum), chosen = c == labels[row] ? 1 : 0;
    dlogits[at] = slope * (p - chosen);
    // What rounding the argument of exp moves: the logit less the logarithm of the sum.
    const double argument = fabs(largest) + log(sum) + fabs((double)scores[c]) / 2;
    magnitude[at] = fabs(slope) * (p * (1 + argument) + chosen);
  }
}
