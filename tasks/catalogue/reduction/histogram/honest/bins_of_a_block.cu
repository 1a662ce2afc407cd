/*@winnow
{ "launches": [ { "kernel": "histogram", "grid": ["ceil_div(bins, 4096)"], "block": [128],
                  "args": ["x", "counts", "n", "bins"] } ] }
@*/
// No global atomics: a block owns 4096 bins and reads all samples.
extern "C" __global__ void histogram(const int* __restrict__ x, int* __restrict__ counts, int n,
                                     int bins) {
  __shared__ unsigned counters[4096];
  const int first = blockIdx.x * 4096;
  for (int b = threadIdx.x; b < 4096; b += 128) {
    counters[b] = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 128) {
    const unsigned bin = x[i] - first;
    if (bin < 4096) {
      atomicAdd(&counters[bin], 1u);
    }
  }
  __syncthreads();
  for (int b = threadIdx.x; b < min(4096, bins - first); b += 128) {
    counts[first + b] = counters[b];
  }
}
