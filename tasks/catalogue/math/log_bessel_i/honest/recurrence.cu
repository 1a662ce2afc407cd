/*@winnow
{ "launches": [ { "kernel": "log_bessel", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["order", "x", "y", "n"] } ] }
@*/
// Small arguments by the series. For the others Debye's expansion holds at the order v + 16, and
// the continued fraction of I_v / I_(v + 1), whose parts are positive, leads down from there.
__device__ float uniform(float v, float z) {
  const float root = hypotf(v, z), p = v / root, q = p * p, u = 1.0f / root;
  const float first = u * (3.0f - 5.0f * q) / 24.0f;
  const float second = u * u * (81.0f - 462.0f * q + 385.0f * q * q) / 1152.0f;
  return root - v * asinhf(v / z) - 0.5f * logf(6.28318531f * root) + logf(1.0f + first + second);
}

extern "C" __global__ void log_bessel(const float* __restrict__ order, const float* __restrict__ x,
                                      float* __restrict__ y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float v = fabsf(order[i]), z = fabsf(x[i]);
  if (z * z < 64.0f * (v + 1.0f)) {
    float term = 1.0f, sum = 1.0f;
    for (int k = 1; k < 64; ++k) {
      term *= 0.25f * z * z / (k * (v + k));
      sum += term;
    }
    y[i] = v * logf(0.5f * z) - lgammaf(v + 1.0f) + logf(sum);
    return;
  }
  // I_m / I_(m + 1) by the rule r_m = 2 (m + 1) / z + 1 / r_(m + 1).
  float ratio = 1.0f, product = 1.0f, logarithm = 0.0f;
  const int above = 20 + (int)(2.0f * z);
  for (int m = above - 1; m >= 0; --m) {
    ratio = 2.0f * (v + m + 1.0f) / z + 1.0f / ratio;
    product *= m < 16 ? ratio : 1.0f;
    if (product > 1e18f) {
      logarithm += logf(product);
      product = 1.0f;
    }
  }
  y[i] = uniform(v + 16.0f, z) + (logarithm + logf(product));
}
