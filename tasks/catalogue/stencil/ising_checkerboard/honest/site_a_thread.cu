/*@winnow
{
  "launches": [
    { "copy": "spins", "to": "out" },
    { "repeat": "2 * sweeps", "as": "t",
      "do": [ { "kernel": "half_sweep", "grid": ["ceil_div(h * w, 128)"], "block": [128],
                "args": ["accept", "out", "t", "seed", "h", "w"] } ] }
  ]
}
@*/
// A thread for each site; those of the other colour do nothing. Spins are compared, not added.
extern "C" __global__ void half_sweep(const int* __restrict__ accept, unsigned char* out, int t,
                                      int seed, int h, int w) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  const int i = at / w, j = at % w;
  if (i >= h || (i + j + t) % 2 != 0) {
    return;
  }
  int sum = 0;
  if (i > 0) {
    sum += out[at - w] != 0 ? 1 : -1;
  }
  if (i + 1 < h) {
    sum += out[at + w] != 0 ? 1 : -1;
  }
  if (j > 0) {
    sum += out[at - 1] != 0 ? 1 : -1;
  }
  if (j + 1 < w) {
    sum += out[at + 1] != 0 ? 1 : -1;
  }
  unsigned r = (unsigned)at * 0x9E3779B1u + ((unsigned)seed * 65536u + t) * 0x85EBCA77u;
  r = (r ^ (r >> 16)) * 0x85EBCA6Bu;
  r = (r ^ (r >> 13)) * 0xC2B2AE35u;
  r ^= r >> 16;
  const bool flips = (int)(r >> 1) < accept[(out[at] != 0 ? 13 : 4) + sum];
  out[at] ^= flips ? 1 : 0;
}
