/*@winnow
{
  "scratch": { "table": { "dtype": "u32", "count": 4096 } },
  "launches": [
    { "kernel": "make_table", "grid": [64], "block": [64], "args": ["symbols", "table"] },
    { "kernel": "decode", "grid": ["ceil_div(chunks, 64)"], "block": [64],
      "args": ["codes", "sign_mantissa", "table", "weights", "chunks", "length",
               "ceil_div(3 * length, 32)"] }
  ]
}
@*/
// A lookup gives two exponents if both codes are within 12 bits.
__device__ int find_symbol(int bits, int& length) {
  const int shortest[15] = {2, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12};
  int symbol = 0, begin = 0;
  while (bits >= begin + (4096 >> shortest[symbol])) {
    begin += 4096 >> shortest[symbol];
    ++symbol;
  }
  length = shortest[symbol];
  return symbol;
}

extern "C" __global__ void make_table(const unsigned char* __restrict__ symbols,
                                      unsigned* __restrict__ table) {
  const int bits = blockIdx.x * 64 + threadIdx.x;
  int first = 0, second = 0;
  const unsigned one = symbols[find_symbol(bits, first)];
  const unsigned two = symbols[find_symbol(bits << first & 4095, second)];
  const bool both = first + second <= 12;
  // The lowest bits first: both exponents, the number of bits of both codes and of the first one.
  table[bits] = (unsigned)first << 24 | (both ? first + second : 0) << 16 | two << 8 | one;
}

__device__ short join(unsigned rest, unsigned exponent) {
  return (short)((rest & 128) << 8 | (exponent & 255) << 7 | (rest & 127));
}

extern "C" __global__ void decode(const unsigned char* __restrict__ codes,
                                  const unsigned char* __restrict__ sign_mantissa,
                                  const unsigned* __restrict__ table, short* __restrict__ weights,
                                  int chunks, int length, int slot) {
  const int chunk = blockIdx.x * 64 + threadIdx.x;
  if (chunk >= chunks) {
    return;
  }
  const unsigned* next = reinterpret_cast<const unsigned*>(codes) + (size_t)chunk * slot;
  const unsigned char* rest = sign_mantissa + (size_t)chunk * length;
  short* to = weights + (size_t)chunk * length;
  unsigned long long window = 0; // the next bits, highest first
  int have = 0;
  for (int i = 0; i < length;) {
    if (have < 12) {
      const unsigned long long word = __byte_perm(*next++, 0, 0x0123);
      window |= word << (32 - have);
      have += 32;
    }
    const unsigned found = table[window >> 52];
    const int both = found >> 16 & 15, bits = both != 0 && i + 1 < length ? both : found >> 24;
    to[i] = join(rest[i], found);
    if (both != 0 && i + 1 < length) {
      to[i + 1] = join(rest[i + 1], found >> 8);
      ++i;
    }
    ++i;
    window <<= bits;
    have -= bits;
  }
}
