/*@winnow
{
  "let": { "parts": "min(ceil_div(n, 8192), 16)" },
  "scratch": { "partial": { "dtype": "i32", "count": "parts * bins" } },
  "launches": [
    { "kernel": "count_part", "grid": ["parts"], "block": [1], "args": ["x", "partial", "n", "bins"]
}, { "kernel": "add_parts", "grid": ["ceil_div(bins, 1024)"], "block": [1], "args": ["partial",
"counts", "parts", "bins"] }
  ]
}
@*/
// A block is one thread that counts a part of x in counters of its own; then the parts are added.
extern "C" __global__ void count_part(const int* __restrict__ x, int* __restrict__ partial, int n,
                                      int bins) {
  int* counters = partial + (size_t)blockIdx.x * bins;
  for (int b = 0; b < bins; ++b) {
    counters[b] = 0;
  }
  const int length = (n + gridDim.x - 1) / gridDim.x;
  const int begin = blockIdx.x * length;
  for (int i = begin; i < min(begin + length, n); ++i) {
    ++counters[x[i]];
  }
}

extern "C" __global__ void add_parts(const int* __restrict__ partial, int* __restrict__ counts,
                                     int parts, int bins) {
  const int begin = blockIdx.x * 1024, end = min(begin + 1024, bins);
  for (int b = begin; b < end; ++b) {
    counts[b] = partial[b];
  }
  for (int part = 1; part < parts; ++part) {
    for (int b = begin; b < end; ++b) {
      counts[b] += partial[(size_t)part * bins + b];
    }
  }
}
