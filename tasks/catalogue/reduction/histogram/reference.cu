/*@winnow
{
  "launches": [
    { "fill": "counts", "value": 0 },
    { "kernel": "histogram_reference", "grid": ["ceil_div(n, 256)"], "block": [256],
      "args": ["x", "counts", "n"] }
  ]
}
@*/
extern "C" __global__ void histogram_reference(const int* x, int* counts, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) {
    atomicAdd(&counts[x[i]], 1);
  }
}
