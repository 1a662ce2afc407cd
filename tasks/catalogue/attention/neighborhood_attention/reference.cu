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

__device__ double score(const __half* query, const __half* key, double scale, long long d) {
  double dot = 0;
  for (long long c = 0; c < d; ++c) {
    dot += (double)(float)query[c] * (double)(float)key[c];
  }
  return scale * dot;
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
  double largest = -INFINITY, total = 0;
  for (long long i = 0; i < rows * columns; ++i) {
    const long long key = plane + (top + i / columns) * w + left + i % columns;
    largest = fmax(largest, score(q + at, k + key * d, scale, d));
  }
  for (long long c = 0; c < d; ++c) {
    out[at + c] = 0;
    magnitude[at + c] = 0;
  }
  for (long long i = 0; i < rows * columns; ++i) {
    const long long key = plane + (top + i / columns) * w + left + i % columns;
    const double weight = exp(score(q + at, k + key * d, scale, d) - largest);
    total += weight;
    for (long long c = 0; c < d; ++c) {
      const double term = weight * (double)(float)v[key * d + c];
      out[at + c] += term;
      magnitude[at + c] += term * term;
    }
  }
  for (long long c = 0; c < d; ++c) {
    out[at + c] /= total;
    magnitude[at + c] = sqrt(magnitude[at + c]) / total;
  }
}
