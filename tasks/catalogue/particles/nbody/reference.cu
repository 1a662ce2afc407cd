/*@winnow
{ "launches": [ { "kernel": "reference", "grid": ["ceil_div(targets, 32)"], "block": [32],
                  "args": ["active", "source", "mass", "acceleration", "acceleration_magnitude",
                           "softening", "targets", "sources"] } ] }
@*/
extern "C" __global__ void reference(const float* active, const float* source, const float* mass,
                                     double* acceleration, double* magnitude, float softening,
                                     long long targets, long long sources) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= targets) {
    return;
  }
  double sum[3] = {}, block[3] = {}, size[3] = {};
  for (long long j = 0; j < sources; ++j) {
    double d[3], square = softening;
    for (int c = 0; c < 3; ++c) {
      d[c] = NARROW(difference, (double)source[3 * j + c] - active[3 * i + c]);
      square += NARROW(square, d[c] * d[c]);
    }
    const double factor = NARROW(factor, mass[j] / (square * sqrt(square)));
    const bool is_last = j % 256 == 255 || j + 1 == sources; // of a block that a kernel adds up first
    for (int c = 0; c < 3; ++c) {
      block[c] += NARROW(term, factor * d[c]);
      size[c] += fabs(factor * d[c]);
      if (is_last) {
        sum[c] += NARROW(partial_sum, block[c]);
        block[c] = 0;
      }
    }
  }
  for (int c = 0; c < 3; ++c) {
    acceleration[3 * i + c] = sum[c];
    magnitude[3 * i + c] = size[c];
  }
}
