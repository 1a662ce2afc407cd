/*@winnow
{
  "scratch": { "table": { "dtype": "u16", "count": 4096 } },
  "launches": [
    { "kernel": "make_table", "grid": [1], "block": [1], "args": ["symbols", "table"] },
    { "kernel": "decode", "grid": ["chunks"], "block": [1],
      "args": ["codes", "sign_mantissa", "table", "weights", "length", "ceil_div(3 * length, 32)"] }
  ]
}
@*/
// A block is one thread with one chunk. A table has the exponent and the number of bits of the code
// at the begin of any 12 bits.
__global__ void make_table(const unsigned char* __restrict__ symbols,
                           unsigned short* __restrict__ table) {
  const int bits_of[15] = {2, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12};
  int at = 0;
  for (int symbol = 0; symbol < 15; ++symbol) {
    for (int i = 0; i < 4096 >> bits_of[symbol]; ++i) {
      table[at++] = (unsigned short)(symbols[symbol] << 8 | bits_of[symbol]);
    }
  }
}

__global__ void decode(const unsigned char* __restrict__ codes,
                       const unsigned char* __restrict__ sign_mantissa,
                       const unsigned short* __restrict__ table, short* __restrict__ weights,
                       int length, int slot) {
  const unsigned* next = reinterpret_cast<const unsigned*>(codes) + (size_t)blockIdx.x * slot;
  const size_t first = (size_t)blockIdx.x * length;
  unsigned long long window = 0; // the next bits, highest first
  int have = 0;
  for (int i = 0; i < length; ++i) {
    if (have < 12) {
      const unsigned long long word = __byte_perm(*next++, 0, 0x0123);
      window |= word << (32 - have);
      have += 32;
    }
    const unsigned found = table[window >> 52];
    window <<= found & 15;
    have -= found & 15;
    const unsigned rest = sign_mantissa[first + i];
    weights[first + i] = (short)((rest & 128) << 8 | found >> 8 << 7 | (rest & 127));
  }
}
