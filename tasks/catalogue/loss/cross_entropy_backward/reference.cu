/*@winnow
{ "launches": [ { "kernel": "gradient_reference", "grid": ["rows"], "block": [32],
                  "args": ["logits", "labels", "dloss", "dlogits", "dlogits_magnitude",
                           "classes"] } ] }
@*/
__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}

__device__ double warp_max(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmax(value, __shfl_xor_sync(0xffffffff, value, offset));
  }
  return value;
}

// A warp for each row. A lane adds up every 32nd term.
extern "C" __global__ void gradient_reference(const float* logits, const int* labels,
                                              const float* dloss, double* dlogits,
                                              double* magnitude, long long classes) {
  const long long row = blockIdx.x;
  const float* scores = logits + row * classes;
  double largest = scores[0];
  for (long long c = threadIdx.x; c < classes; c += 32) {
    largest = fmax(largest, (double)scores[c]);
  }
  largest = warp_max(largest);
  double sum = 0, block = 0;
  for (long long c = threadIdx.x; c < classes; c += 32) {
    block += NARROW(term, exp(scores[c] - largest));
    if (c / 32 % 128 == 127 || c + 32 >= classes) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  sum = warp_sum(sum);
  const double slope = dloss[row];
  for (long long c = threadIdx.x; c < classes; c += 32) {
    const long long at = row * classes + c;
    const double exponential = NARROW(exponential, exp(NARROW(difference, scores[c] - largest)));
    const double p = NARROW(probability, exponential / sum), chosen = c == labels[row] ? 1 : 0;
    dlogits[at] = slope * (p - chosen);
    // What rounding the argument of exp moves: the logit less the logarithm of the sum.
    const double argument = fabs(largest) + log(sum) + fabs((double)scores[c]) / 2;
    magnitude[at] = fabs(slope) * (p * (1 + argument) + chosen);
  }
}
