/*@winnow
{ "launches": [ { "kernel": "loss_reference", "grid": ["rows"], "block": [32],
                  "args": ["logits", "labels", "loss", "loss_magnitude", "classes"] } ] }
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
extern "C" __global__ void loss_reference(const float* logits, const int* labels, double* loss,
                                          double* magnitude, long long classes) {
  const long long row = blockIdx.x;
  const float* scores = logits + row * classes;
  double largest = scores[0];
  for (long long c = threadIdx.x; c < classes; c += 32) {
    largest = fmax(largest, (double)scores[c]);
  }
  largest = warp_max(largest);
  double sum = 0, block = 0, arguments = 0;
  for (long long c = threadIdx.x; c < classes; c += 32) {
    const double term = NARROW(term, exp(NARROW(difference, scores[c] - largest)));
    block += term;
    arguments += term * (largest - scores[c]);
    if (c / 32 % 128 == 127 || c + 32 >= classes) { // a block that a kernel adds up first
      sum += NARROW(partial_sum, block);
      block = 0;
    }
  }
  sum = warp_sum(sum);
  arguments = warp_sum(arguments);
  if (threadIdx.x == 0) {
    const double chosen = scores[labels[row]];
    loss[row] = NARROW(logarithm, log(sum)) + (largest - chosen);
    // One for the sum, and what rounding the exponents' arguments moves. The logarithm may be
    // rounded after the maximum is added, as may the loss.
    magnitude[row] = 1 + arguments / sum + log(sum) + fabs(largest) + fabs(chosen);
  }
}
