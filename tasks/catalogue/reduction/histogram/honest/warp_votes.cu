/*@winnow
{
  "launches": [
    { "fill": "counts", "value": 0 },
    { "kernel": "histogram", "grid": ["ceil_div(n, 256)"], "block": [64],
      "args": ["x", "counts", "n"] }
  ]
}
@*/
// Lanes with the same sample find each other by shuffles; the first of them adds for all.
extern "C" __global__ void histogram(const int* __restrict__ x, int* counts, int n) {
  const int begin = blockIdx.x * 256;
  for (int first = begin; first < min(begin + 256, n); first += 64) {
    const int i = first + threadIdx.x;
    const int sample = i < n ? x[i] : -1;
    int same = 0, before = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const bool equal = __shfl_sync(0xffffffff, sample, lane) == sample;
      same += equal ? 1 : 0;
      before += equal && lane < threadIdx.x % 32 ? 1 : 0;
    }
    if (sample >= 0 && before == 0) {
      atomicAdd(&counts[sample], same);
    }
  }
}
