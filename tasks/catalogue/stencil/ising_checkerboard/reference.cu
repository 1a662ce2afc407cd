/*@winnow
{
  "launches": [
    { "copy": "spins", "to": "out" },
    { "repeat": "2 * sweeps", "as": "t",
      "do": [ { "kernel": "half_sweep", "grid": ["ceil_div(h * w, 64)"], "block": [64],
                "args": ["accept", "out", "t", "seed", "h", "w"] } ] }
  ]
}
@*/
extern "C" __global__ void half_sweep(const int* accept, unsigned char* out, int t, int seed,
                                      long long h, long long w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const long long i = at / w, j = at % w;
  if (at >= h * w || (i + j) % 2 != t % 2) {
    return;
  }
  int sum = 0;
  sum += i > 0 ? 2 * out[at - w] - 1 : 0;
  sum += i + 1 < h ? 2 * out[at + w] - 1 : 0;
  sum += j > 0 ? 2 * out[at - 1] - 1 : 0;
  sum += j + 1 < w ? 2 * out[at + 1] - 1 : 0;
  unsigned r = (unsigned)at * 0x9E3779B1u + ((unsigned)t + (unsigned)seed * 65536u) * 0x85EBCA77u;
  r ^= r >> 16;
  r *= 0x85EBCA6Bu;
  r ^= r >> 13;
  r *= 0xC2B2AE35u;
  r ^= r >> 16;
  if ((int)(r >> 1) < accept[9 * out[at] + sum + 4]) {
    out[at] = 1 - out[at];
  }
}
