/*@winnow
{
  "scratch": { "even": { "dtype": "u8", "count": "h * w" },
               "odd": { "dtype": "u8", "count": "h * w" } },
  "launches": [
    {
      "repeat": "sweeps",
      "as": "n",
      "let": { "from": "n == 0 ? 0 : n % 2 == 1 ? 1 : 2", "to": "n == sweeps - 1 ? 2 : n % 2" },
      "do": [
        {
          "kernel": "sweep",
          "grid": ["ceil_div(w, 28)", "ceil_div(h, 4)"],
          "block": [32, 8],
          "args": [
            "accept",
            { "pick": ["spins", "even", "odd"], "by": "from" },
            { "pick": ["even", "odd", "out"], "by": "to" },
            "n",
            "seed",
            "h",
            "w"
          ]
        }
      ]
    }
  ]
}
@*/
// One launch a sweep: a tile with a halo of two sites in shared memory. The first colour moves in the
// tile and in the inner ring of the halo, the second one in the tile only.
__device__ int moved(const int* accept, unsigned char (*tile)[32], int y, int x, unsigned site,
                     unsigned step, bool up, bool down, bool left, bool right) {
  int sum = 4;
  sum += up ? 2 * tile[y - 1][x] - 1 : 0;
  sum += down ? 2 * tile[y + 1][x] - 1 : 0;
  sum += left ? 2 * tile[y][x - 1] - 1 : 0;
  sum += right ? 2 * tile[y][x + 1] - 1 : 0;
  unsigned r = site * 0x9E3779B1u + step * 0x85EBCA77u;
  r = (r ^ (r >> 16)) * 0x85EBCA6Bu;
  r = (r ^ (r >> 13)) * 0xC2B2AE35u;
  r ^= r >> 16;
  const int spin = tile[y][x];
  return (int)(r >> 1) < accept[9 * spin + sum] ? 1 - spin : spin;
}

extern "C" __global__ void sweep(const int* __restrict__ accept,
                                 const unsigned char* __restrict__ spins, unsigned char* next,
                                 int n, int seed, int h, int w) {
  __shared__ unsigned char tile[8][32];
  const int y = threadIdx.y, x = threadIdx.x;
  const int i = (int)blockIdx.y * 4 + y - 2, j = (int)blockIdx.x * 28 + x - 2;
  const bool inside = i >= 0 && i < h && j >= 0 && j < w;
  const unsigned site = (unsigned)i * (unsigned)w + (unsigned)j;
  tile[y][x] = inside ? spins[(size_t)i * w + j] : 0;
  __syncthreads();
  for (int colour = 0; colour < 2; ++colour) {
    const int margin = 1 + colour;
    if (inside && ((i + j) & 1) == colour && y >= margin && y < 8 - margin && x >= margin &&
        x < 32 - margin) {
      tile[y][x] = moved(accept, tile, y, x, site, 2 * n + colour + (unsigned)seed * 65536u, i > 0,
                         i + 1 < h, j > 0, j + 1 < w);
    }
    __syncthreads();
  }
  if (inside && y >= 2 && y < 6 && x >= 2 && x < 30) {
    next[(size_t)i * w + j] = tile[y][x];
  }
}
