/*@winnow
{
  "params": { "PART": [4096, 2048, 8192] },
  "let": { "parts": "ceil_div(n, PART)" },
  "scratch": { "partial": { "dtype": "f32", "count": "parts" } },
  "launches": [
    { "kernel": "part_sums", "grid": ["parts"], "block": [1],
      "args": ["x", "partial", "n", "PART"] },
    { "kernel": "part_sums", "grid": [1], "block": [1],
      "args": ["partial", "out", "parts", "parts"] }
  ]
}
@*/
// Two passes: each block is one thread that sums a contiguous part, then one block sums the parts.
extern "C" __global__ void part_sums(const float* __restrict__ x, float* __restrict__ sums, int n,
                                     int length) {
  const int begin = blockIdx.x * length, end = min(begin + length, n);
  double sum = 0; // a float loses the small elements behind a large one
  for (int i = begin; i < end; ++i) {
    sum += x[i];
  }
  sums[blockIdx.x] = (float)sum;
}
