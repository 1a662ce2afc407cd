/*@winnow
{
  "let": { "words": "ceil_div(w, 64)" },
  "scratch": { "even": { "dtype": "u32", "count": "h * words" },
               "odd": { "dtype": "u32", "count": "h * words" } },
  "launches": [
    { "kernel": "pack", "grid": ["ceil_div(h * words, 64)"], "block": [64],
      "args": ["spins", "even", "odd", "h", "w", "words"] },
    {
      "repeat": "2 * sweeps",
      "as": "t",
      "do": [
        {
          "kernel": "half_sweep",
          "grid": ["ceil_div(h * words, 64)"],
          "block": [64],
          "args": [
            "accept",
            { "pick": ["even", "odd"], "by": "t % 2" },
            { "pick": ["odd", "even"], "by": "t % 2" },
            "t",
            "seed",
            "h",
            "w",
            "words"
          ]
        }
      ]
    },
    { "kernel": "unpack", "grid": ["ceil_div(h * w, 128)"], "block": [128],
      "args": ["even", "odd", "out", "h", "w", "words"] }
  ]
}
@*/
// 32 spins of a colour in a word, a thread a word: the moves of a colour read the other colour only.
extern "C" __global__ void pack(const unsigned char* __restrict__ spins, unsigned* even,
                                unsigned* odd, int h, int w, int words) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= h * words) {
    return;
  }
  const int i = at / words, first = at % words * 64;
  unsigned bits[2] = {0, 0};
  for (int j = first; j < min(first + 64, w); ++j) {
    bits[(i + j) & 1] |= (unsigned)spins[(size_t)i * w + j] << ((j - first) / 2);
  }
  even[at] = bits[0];
  odd[at] = bits[1];
}

__device__ int spin_of(const unsigned* row, int k) {
  return (row[k / 32] >> (k % 32)) & 1;
}

extern "C" __global__ void half_sweep(const int* __restrict__ accept, unsigned* moving,
                                      const unsigned* __restrict__ fixed, int t, int seed, int h,
                                      int w, int words) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= h * words) {
    return;
  }
  const int i = at / words, shift = (i + t) & 1;
  const unsigned* row = fixed + (size_t)i * words;
  const unsigned step = (unsigned)t + (unsigned)seed * 65536u;
  unsigned word = moving[at], flips = 0;
  for (int bit = 0; bit < 32; ++bit) {
    const int k = at % words * 32 + bit, j = 2 * k + shift;
    if (j >= w) {
      break;
    }
    int sum = 4;
    sum += i > 0 ? 2 * spin_of(row - words, k) - 1 : 0;
    sum += i + 1 < h ? 2 * spin_of(row + words, k) - 1 : 0;
    sum += j > 0 ? 2 * spin_of(row, k - 1 + shift) - 1 : 0;
    sum += j + 1 < w ? 2 * spin_of(row, k + shift) - 1 : 0;
    unsigned r = ((unsigned)i * (unsigned)w + (unsigned)j) * 0x9E3779B1u + step * 0x85EBCA77u;
    r = (r ^ (r >> 16)) * 0x85EBCA6Bu;
    r = (r ^ (r >> 13)) * 0xC2B2AE35u;
    r ^= r >> 16;
    const int spin = (word >> bit) & 1;
    flips |= (int)(r >> 1) < accept[9 * spin + sum] ? 1u << bit : 0u;
  }
  moving[at] = word ^ flips;
}

extern "C" __global__ void unpack(const unsigned* __restrict__ even,
                                  const unsigned* __restrict__ odd, unsigned char* out, int h,
                                  int w, int words) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  if (at < (long long)h * w) {
    const int i = at / w, j = at % w;
    out[at] = spin_of(((i + j) & 1 ? odd : even) + (size_t)i * words, j / 2);
  }
}
