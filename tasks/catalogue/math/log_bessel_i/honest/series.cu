/*@winnow
{ "launches": [ { "kernel": "log_bessel", "grid": ["ceil_div(n, 128)"], "block": [128],
                  "args": ["order", "x", "y", "n"] } ] }
@*/
// The series for all orders and arguments: up to some 600 terms. Sums are scaled before they
// overflow.
extern "C" __global__ void log_bessel(const float* __restrict__ order, const float* __restrict__ x,
                                      float* __restrict__ y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float v = fabsf(order[i]), z = fabsf(x[i]), square = 0.25f * z * z;
  float term = 1.0f, sum = 1.0f;
  int scale = 0; // a power of two
  for (float k = 1.0f; term > 1e-8f * sum || k * (v + k) < square; k += 1.0f) {
    term = term * square / (k * (v + k));
    sum += term;
    if (sum > 1e24f) {
      sum *= 5.42101086e-20f; // 2^-64
      term *= 5.42101086e-20f;
      scale += 64;
    }
  }
  y[i] = v * logf(0.5f * z) - lgammaf(v + 1.0f) + (logf(sum) + scale * 0.693147181f);
}
