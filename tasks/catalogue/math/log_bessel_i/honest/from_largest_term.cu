/*@winnow
{ "launches": [ { "kernel": "log_bessel", "grid": ["ceil_div(n, 128)"], "block": [128],
                  "args": ["order", "x", "y", "n"] } ] }
@*/
// The sum in units of its largest term: ratios of neighbours lead down and up from there.
extern "C" __global__ void log_bessel(const float* __restrict__ order, const float* __restrict__ x,
                                      float* __restrict__ y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float v = fabsf(order[i]), z = fabsf(x[i]), square = 0.25f * z * z;
  const float largest = floorf(2.0f * square / (v + sqrtf(v * v + z * z)));
  float sum = 1.0f, term = 1.0f;
  for (float k = largest; k > 0.0f && term > 1e-9f; k -= 1.0f) {
    term *= k * (v + k) / square;
    sum += term;
  }
  term = 1.0f;
  for (float k = largest + 1.0f; term > 1e-9f; k += 1.0f) {
    term *= square / (k * (v + k));
    sum += term;
  }
  const float power = (v + 2.0f * largest) * logf(0.5f * z);
  y[i] = power - lgammaf(largest + 1.0f) - lgammaf(v + largest + 1.0f) + logf(sum);
}
