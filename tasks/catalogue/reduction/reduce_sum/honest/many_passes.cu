/*@winnow
{
  "params": { "FAN": [64] },
  "let": { "first": "ceil_div(n, FAN)", "second": "ceil_div(first, FAN)" },
  "scratch": { "s1": { "dtype": "f32", "count": "first" }, "s2": { "dtype": "f32", "count": "second"
} }, "launches": [ { "kernel": "sum_groups", "grid": ["ceil_div(first, 128)"], "block": [128],
      "args": ["x", "s1", "n", "first", "FAN"] },
    { "kernel": "sum_groups", "grid": ["ceil_div(second, 128)"], "block": [128],
      "args": ["s1", "s2", "first", "second", "FAN"] },
    { "kernel": "sum_groups", "grid": [1], "block": [32],
      "args": ["s2", "out", "second", "1", "second"] }
  ]
}
@*/
// A tree of three levels: each thread adds FAN neighbours, the last level adds what is left.
extern "C" __global__ void sum_groups(const float* __restrict__ x, float* sums, int n, int groups,
                                      int fan) {
  const int group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= groups) {
    return;
  }
  const long long first = (long long)group * fan;
  float sum = 0.0f;
  for (long long i = first; i < first + fan && i < n; ++i) {
    sum += x[i];
  }
  sums[group] = sum;
}
