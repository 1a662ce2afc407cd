/*@winnow
{
  "params": { "BLOCK": [128, 256, 64] },
  "launches": [
    { "kernel": "log_bessel<{BLOCK}>", "grid": ["ceil_div(n, BLOCK)"], "block": ["BLOCK"],
      "args": ["order", "x", "y", "n"] }
  ]
}
@*/
// One element a thread, three regions: the uniform expansion for large orders, the expansion for
// large arguments, and the series, which stays below the largest float there.

// Debye's expansion in 1 / v, uniform in z (Abramowitz and Stegun, 9.7.7), for v >= 12.
__device__ float uniform(float v, float z) {
  const float ratio = z / v, root = sqrtf(1.0f + ratio * ratio);
  const float p = 1.0f / root, q = p * p, u = p / v;
  const float first = u * (3.0f - 5.0f * q) * (1.0f / 24);
  const float second = u * u * (81.0f + q * (-462.0f + q * 385.0f)) * (1.0f / 1152);
  const float third =
      u * u * u * (30375.0f + q * (-369603.0f + q * (765765.0f - q * 425425.0f))) * (1.0f / 414720);
  const float exponent = v * (root + logf(ratio / (1.0f + root)));
  const float factor = -0.5f * logf(6.28318531f * v * root);
  return exponent + factor + log1pf(first + second + third);
}

// Hankel's expansion in 1 / z (Abramowitz and Stegun, 9.7.1), for v < 12 and z >= 64.
__device__ float large_argument(float v, float z) {
  const float mu = 4.0f * v * v, step = 1.0f / (8.0f * z);
  float term = 1.0f, sum = 1.0f;
  for (int k = 1; k < 24 && fabsf(term) > 1e-8f; ++k) {
    const float odd = 2.0f * k - 1.0f;
    term *= -(mu - odd * odd) * step / k;
    sum += term;
  }
  return z - 0.5f * logf(6.28318531f * z) + logf(sum);
}

__device__ float series(float v, float z) {
  const float square = 0.25f * z * z;
  float term = 1.0f, sum = 1.0f;
  for (float k = 1.0f; term > 1e-8f * sum || k * (v + k) < square; k += 1.0f) {
    term *= square / (k * (v + k));
    sum += term;
  }
  return v * logf(0.5f * z) - lgammaf(v + 1.0f) + logf(sum);
}

template <int BLOCK>
__global__ void log_bessel(const float* __restrict__ order, const float* __restrict__ x,
                           float* __restrict__ y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) {
    const float v = fabsf(order[i]), z = fabsf(x[i]);
    y[i] = v >= 12.0f ? uniform(v, z) : z >= 64.0f ? large_argument(v, z) : series(v, z);
  }
}
