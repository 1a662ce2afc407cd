/*@winnow
{
  "params": { "BLOCK": [256, 512, 128], "EACH": [64, 16, 128] },
  "let": { "private": "bins <= 8192", "vec": "n % 4 == 0 ? 4 : 1" },
  "launches": [
    { "fill": "counts", "value": 0 },
    { "kernel": "histogram_private<{BLOCK}, {vec}>", "grid": ["ceil_div(n, BLOCK * EACH)"],
      "block": ["BLOCK"], "shared_bytes": "4 * bins", "args": ["x", "counts", "n", "bins"],
      "when": "private" },
    { "kernel": "histogram<{BLOCK}, {vec}>", "grid": ["ceil_div(n, BLOCK * EACH)"],
      "block": ["BLOCK"], "args": ["x", "counts", "n"], "when": "!private" }
  ]
}
@*/
// Counters of a block in shared memory, merged by atomics; many bins are counted in global memory.
template <int VEC> struct alignas(4 * VEC) Pack { int lane[VEC]; };

template <int BLOCK, int VEC>
__device__ void count(const int* __restrict__ x, int* counters, int n) {
  const Pack<VEC>* packs = reinterpret_cast<const Pack<VEC>*>(x);
  for (int p = blockIdx.x * BLOCK + threadIdx.x; p < n / VEC; p += gridDim.x * BLOCK) {
    const Pack<VEC> pack = packs[p];
    for (int i = 0; i < VEC; ++i) {
      atomicAdd(&counters[pack.lane[i]], 1);
    }
  }
}

template <int BLOCK, int VEC>
__global__ void histogram_private(const int* __restrict__ x, int* counts, int n, int bins) {
  extern __shared__ int counters[];
  for (int b = threadIdx.x; b < bins; b += BLOCK) {
    counters[b] = 0;
  }
  __syncthreads();
  count<BLOCK, VEC>(x, counters, n);
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += BLOCK) {
    if (counters[b] != 0) {
      atomicAdd(&counts[b], counters[b]);
    }
  }
}

template <int BLOCK, int VEC>
__global__ void histogram(const int* __restrict__ x, int* counts, int n) {
  count<BLOCK, VEC>(x, counts, n);
}
