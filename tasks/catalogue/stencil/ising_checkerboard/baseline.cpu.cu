/*@winnow
{
  "launches": [
    { "copy": "spins", "to": "out" },
    { "repeat": "2 * sweeps", "as": "t",
      "do": [ { "kernel": "half_sweep", "grid": ["ceil_div(h, 8)"], "block": [1],
                "args": ["accept", "out", "t", "seed", "h", "w"] } ] }
  ]
}
@*/
// A block is one thread that moves the sites of one colour in eight rows, in place.
__device__ unsigned random_bits(unsigned site, unsigned step) {
  unsigned r = site * 0x9E3779B1u + step * 0x85EBCA77u;
  r ^= r >> 16;
  r *= 0x85EBCA6Bu;
  r ^= r >> 13;
  r *= 0xC2B2AE35u;
  return r ^ (r >> 16);
}

extern "C" __global__ void half_sweep(const int* __restrict__ accept, unsigned char* out, int t,
                                      int seed, int h, int w) {
  const unsigned step = (unsigned)t + (unsigned)seed * 65536u;
  for (int i = blockIdx.x * 8; i < min((int)(blockIdx.x + 1) * 8, h); ++i) {
    for (int j = (i + t) & 1; j < w; j += 2) {
      const size_t at = (size_t)i * w + j;
      int sum = 4;
      sum += i > 0 ? 2 * out[at - w] - 1 : 0;
      sum += i + 1 < h ? 2 * out[at + w] - 1 : 0;
      sum += j > 0 ? 2 * out[at - 1] - 1 : 0;
      sum += j + 1 < w ? 2 * out[at + 1] - 1 : 0;
      const int spin = out[at];
      const int flips = (int)(random_bits((unsigned)at, step) >> 1) < accept[9 * spin + sum];
      out[at] = spin ^ flips;
    }
  }
}
