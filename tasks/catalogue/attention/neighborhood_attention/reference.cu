/*@winnow
{
  "launches": [
    { "kernel": "reference", "grid": ["ceil_div(w, 8)", "h", "planes"], "block": [8],
      "args": ["q", "k", "v", "out", "out_magnitude", "radius", { "float": "scale / sqrt(d)" },
               "h", "w", "d"] }
  ]
}
@*/
#include <cuda_fp16.h>

// What a weight may lose when it is rounded to half precision, times 2^11: below 2^-14 the steps do
// not shrink any more. A weight below 2^-25 is lost as a whole; all these losses have one sign, and
// n of them add up to at most sqrt(n) times the root of their squares.
__device__ double unsure(double weight, long long n) {
  return weight < 0x1p-25 ? 0x1p11 * weight * sqrt((double)n) : fmax(weight, 0x1p-14);
}

__device__ double score(const __half* query, const __half* key, double scale, long long d) {
  double dot = 0;
  for (long long c = 0; c < d; ++c) {
    dot += (double)(float)query[c] * (double)(float)key[c];
  }
  return NARROW(score, scale * dot);
}

extern "C" __global__ void reference(const __half* q, const __half* k, const __half* v, double* out,
                                     double* magnitude, long long radius, double scale, long long h,
                                     long long w, long long d) {
  const long long x = blockIdx.x * (long long)blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) {
    return;
  }
  const long long plane = blockIdx.z * h * w, at = (plane + y * w + x) * d;
  const long long rows = min(h, 2 * radius + 1), columns = min(w, 2 * radius + 1);
  const long long top = max(0LL, min(y - radius, h - rows));
  const long long left = max(0LL, min(x - radius, w - columns));
  double largest = -INFINITY, total = 0, sum = 0;
  for (long long i = 0; i < rows * columns; ++i) {
    const long long key = plane + (top + i / columns) * w + left + i % columns;
    const double t = score(q + at, k + key * d, scale, d), before = largest;
    largest = fmax(largest, t);
    total = total * exp(before - largest) + exp(t - largest);
  }
  for (long long c = 0; c < d; ++c) {
    out[at + c] = 0;
    magnitude[at + c] = 0;
  }
  for (long long i = 0; i < rows * columns; ++i) {
    const long long key = plane + (top + i / columns) * w + left + i % columns;
    const double weight = NARROW(exponential, exp(score(q + at, k + key * d, scale, d) - largest));
    const double p = unsure(weight / total, rows * columns);
    sum += weight;
    for (long long c = 0; c < d; ++c) {
      const double value = (float)v[key * d + c];
      out[at + c] += weight * value;
      magnitude[at + c] += p * p * value * value;
    }
  }
  for (long long c = 0; c < d; ++c) {
    out[at + c] /= sum;
    magnitude[at + c] = sqrt(magnitude[at + c]);
  }
}
