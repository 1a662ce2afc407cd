/*@winnow
{
  "let": { "each": "min(64 * bins, 65536)", "words": "ceil_div(bins, 4)" },
  "launches": [
    { "fill": "counts", "value": 0 },
    { "kernel": "histogram", "grid": ["ceil_div(n, each)"], "block": [256],
      "shared_bytes": "4 * words", "args": ["x", "counts", "n", "bins", "each", "words"] }
  ]
}
@*/
// Wrong: a block counts in bytes. It takes 64 samples for each bin, so the counters hold four times
// the usual number. A bin with more than 255 of them runs into its neighbour.
extern "C" __global__ void histogram(const int* __restrict__ x, int* counts, int n, int bins,
                                     int each, int words) {
  extern __shared__ unsigned counters[];
  for (int word = threadIdx.x; word < words; word += 256) {
    counters[word] = 0;
  }
  __syncthreads();
  const long long begin = (long long)blockIdx.x * each;
  for (long long i = begin + threadIdx.x; i < min(begin + each, (long long)n); i += 256) {
    atomicAdd(&counters[x[i] / 4], 1u << 8 * (x[i] % 4));
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += 256) {
    atomicAdd(&counts[bin], counters[bin / 4] >> 8 * (bin % 4) & 255);
  }
}
