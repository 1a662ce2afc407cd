/*@winnow
{ "launches": [ { "kernel": "attract", "grid": ["ceil_div(targets, 32)"], "block": [32],
                  "args": ["active", "source", "mass", "acceleration", "softening", "targets",
                           "sources"] } ] }
@*/
// One thread an active body, source after source: the longest chain of additions. Root and quotient
// instead of a reciprocal root.
extern "C" __global__ void attract(const float* __restrict__ active,
                                   const float* __restrict__ source, const float* __restrict__ mass,
                                   float* __restrict__ acceleration, float softening, int targets,
                                   int sources) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= targets) {
    return;
  }
  float sums[3] = {};
  for (int j = 0; j < sources; ++j) {
    float d[3], square = softening;
    for (int c = 0; c < 3; ++c) {
      d[c] = source[3 * (size_t)j + c] - active[3 * i + c];
      square = fmaf(d[c], d[c], square);
    }
    const float factor = mass[j] / (square * sqrtf(square));
    for (int c = 0; c < 3; ++c) {
      sums[c] = fmaf(factor, d[c], sums[c]);
    }
  }
  for (int c = 0; c < 3; ++c) {
    acceleration[3 * i + c] = sums[c];
  }
}
