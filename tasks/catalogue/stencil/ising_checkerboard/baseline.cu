/*@winnow
{
  "params": { "BX": [64, 32, 128], "BY": [4, 2] },
  "launches": [
    { "copy": "spins", "to": "out" },
    { "repeat": "2 * sweeps", "as": "t",
      "do": [ { "kernel": "half_sweep<{BX}, {BY}>",
                "grid": ["ceil_div(w, 2 * BX)", "ceil_div(h, BY)"], "block": ["BX", "BY"],
                "args": ["accept", "out", "t", "seed", "h", "w"] } ] }
  ]
}
@*/
// A thread for each site of the colour that moves, in place; the table is in shared memory.
__device__ unsigned random_bits(unsigned site, unsigned step) {
  unsigned r = site * 0x9E3779B1u + step * 0x85EBCA77u;
  r ^= r >> 16;
  r *= 0x85EBCA6Bu;
  r ^= r >> 13;
  r *= 0xC2B2AE35u;
  return r ^ (r >> 16);
}

template <int BX, int BY>
__global__ void half_sweep(const int* __restrict__ accept, unsigned char* out, int t, int seed,
                           int h, int w) {
  __shared__ int table[18];
  for (int n = threadIdx.y * BX + threadIdx.x; n < 18; n += BX * BY) {
    table[n] = accept[n];
  }
  __syncthreads();
  const int i = blockIdx.y * BY + threadIdx.y;
  const int j = 2 * (blockIdx.x * BX + threadIdx.x) + ((i + t) & 1);
  if (i >= h || j >= w) {
    return;
  }
  const size_t at = (size_t)i * w + j;
  int sum = 4;
  sum += i > 0 ? 2 * out[at - w] - 1 : 0;
  sum += i + 1 < h ? 2 * out[at + w] - 1 : 0;
  sum += j > 0 ? 2 * out[at - 1] - 1 : 0;
  sum += j + 1 < w ? 2 * out[at + 1] - 1 : 0;
  const int spin = out[at];
  const unsigned step = (unsigned)t + (unsigned)seed * 65536u;
  if ((int)(random_bits((unsigned)at, step) >> 1) < table[9 * spin + sum]) {
    out[at] = 1 - spin;
  }
}
