/*@winnow
{
  "launches": [
    { "kernel": "decode", "grid": ["ceil_div(chunks, 32)"], "block": [32],
      "args": ["codes", "sign_mantissa", "symbols", "weights", "chunks", "length",
               "4 * ceil_div(3 * length, 32)"] }
  ]
}
@*/
// Without a table: the number of leading ones tells the symbol. A thread has a chunk, and reads
// byte by byte.
extern "C" __global__ void decode(const unsigned char* __restrict__ codes,
                                  const unsigned char* __restrict__ sign_mantissa,
                                  const unsigned char* __restrict__ symbols,
                                  short* __restrict__ weights, int chunks, int length, int slot) {
  const int chunk = blockIdx.x * 32 + threadIdx.x;
  if (chunk >= chunks) {
    return;
  }
  const unsigned char* next = codes + (size_t)chunk * slot;
  unsigned window = 0; // the next bits, highest first
  int have = 0;
  for (int i = 0; i < length; ++i) {
    while (have < 12) {
      window |= (unsigned)*next++ << (24 - have);
      have += 8;
    }
    const int ones = min(__clz(~window), 12);
    const bool is_short = ones < 3;
    const int bits = ones == 0 ? 2 : is_short ? 3 : min(ones + 1, 12);
    const int symbol = ones == 0 ? window >> 30 : is_short ? 2 + (window >> 29 & 3) : ones + 2;
    window <<= bits;
    have -= bits;
    const size_t at = (size_t)chunk * length + i;
    const int rest = sign_mantissa[at];
    weights[at] = (short)((rest & 128) << 8 | symbols[symbol] << 7 | (rest & 127));
  }
}
