/*@winnow
{
  "let": { "parts": "max(1, min(min(4096, n / 256), 33554432 / bins))" },
  "scratch": { "partial": { "dtype": "i32", "count": "parts * bins" } },
  "launches": [
    { "fill": "partial", "value": 0 },
    { "kernel": "count_part", "grid": ["ceil_div(parts, 32)"], "block": [32],
      "args": ["x", "partial", "n", "bins", "parts"] },
    { "kernel": "add_parts", "grid": ["ceil_div(bins, 64)"], "block": [64],
      "args": ["partial", "counts", "bins", "parts"] }
  ]
}
@*/
// A thread counts a part of the samples alone, in its own counters; a second kernel adds them.
extern "C" __global__ void count_part(const int* __restrict__ x, int* partial, int n, int bins,
                                      int parts) {
  const int part = blockIdx.x * 32 + threadIdx.x;
  if (part >= parts) {
    return;
  }
  for (int i = part; i < n; i += parts) {
    partial[(size_t)part * bins + x[i]] += 1;
  }
}

extern "C" __global__ void add_parts(const int* __restrict__ partial, int* __restrict__ counts,
                                     int bins, int parts) {
  const int bin = blockIdx.x * 64 + threadIdx.x;
  if (bin < bins) {
    int sum = 0;
    for (int part = 0; part < parts; ++part) {
      sum += partial[(size_t)part * bins + bin];
    }
    counts[bin] = sum;
  }
}
