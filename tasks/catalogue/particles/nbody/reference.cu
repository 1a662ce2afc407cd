/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["targets"], "block": [32],
                  "args": ["active", "source", "mass", "acceleration", "acceleration_magnitude",
                           "softening", "sources"] } ] }
@*/
__device__ double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  return value;
}

// A warp for each target, because there may be few targets. A lane adds up every 32nd block of 256
// sources.
extern "C" __global__ void reference(const float* active, const float* source, const float* mass,
                                     double* acceleration, double* magnitude, float softening,
                                     long long sources) {
  const long long i = blockIdx.x;
  double sum[3] = {}, size[3] = {};
  for (long long first = threadIdx.x * 256LL; first < sources; first += 32 * 256) {
    double block[3] = {};
    for (long long j = first; j < min(first + 256, sources); ++j) {
      double d[3], square = softening;
      for (int c = 0; c < 3; ++c) {
        d[c] = NARROW(difference, (double)source[3 * j + c] - active[3 * i + c]);
        square += NARROW(square, d[c] * d[c]);
      }
      const double factor = NARROW(factor, mass[j] / (square * sqrt(square)));
      for (int c = 0; c < 3; ++c) {
        block[c] += NARROW(term, factor * d[c]);
        size[c] += fabs(factor * d[c]);
      }
    }
    for (int c = 0; c < 3; ++c) {
      sum[c] += NARROW(partial_sum, block[c]); // a kernel adds a block up first
    }
  }
  for (int c = 0; c < 3; ++c) {
    const double whole = warp_sum(sum[c]), sizes = warp_sum(size[c]);
    if (threadIdx.x == 0) {
      acceleration[3 * i + c] = whole;
      magnitude[3 * i + c] = sizes;
    }
  }
}
