/*@winnow
{
  "params": { "WARPS": [4, 2] },
  "launches": [
    { "kernel": "decode<{WARPS}>", "grid": ["ceil_div(chunks, 32 * WARPS)"], "block": [32, "WARPS"],
      "args": ["codes", "sign_mantissa", "symbols", "weights", "chunks", "length",
               "ceil_div(3 * length, 32)"] }
  ]
}
@*/
// A thread decodes a chunk with a table of all 12 bits. A warp gathers 32 exponents of each of its
// chunks in shared memory, and writes them row by row.

// The exponent and the number of bits of the code at the begin of 12 bits.
__device__ unsigned short entry(int bits, const unsigned char* symbols) {
  const int ones = __clz(~(bits << 20));
  int symbol = ones + 2, length = min(ones + 1, 12);
  if (ones == 0) {
    symbol = bits >> 10 & 1;
    length = 2;
  } else if (ones < 3) {
    symbol = 2 + (bits >> 9 & 3);
    length = 3;
  }
  return (unsigned short)(symbols[symbol] << 8 | length);
}

template <int WARPS>
__global__ void decode(const unsigned char* __restrict__ codes,
                       const unsigned char* __restrict__ sign_mantissa,
                       const unsigned char* __restrict__ symbols, short* __restrict__ weights,
                       int chunks, int length, int slot) {
  __shared__ unsigned short table[4096];
  __shared__ unsigned char exponents[WARPS][32][33];
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (int bits = warp * 32 + lane; bits < 4096; bits += 32 * WARPS) {
    table[bits] = entry(bits, symbols);
  }
  __syncthreads();
  const int top = (blockIdx.x * WARPS + warp) * 32, chunk = top + lane;
  const unsigned* next = reinterpret_cast<const unsigned*>(codes) + (size_t)chunk * slot;
  unsigned long long window = 0; // the next bits, highest first
  int have = 0;
  for (int start = 0; start < length; start += 32) {
    for (int i = 0; i < 32 && start + i < length && chunk < chunks; ++i) {
      if (have < 12) {
        const unsigned long long word = __byte_perm(*next++, 0, 0x0123);
        window |= word << (32 - have);
        have += 32;
      }
      const unsigned found = table[window >> 52];
      exponents[warp][lane][i] = found >> 8;
      window <<= found & 15;
      have -= found & 15;
    }
    __syncwarp();
    for (int row = 0; row < 32 && top + row < chunks; ++row) {
      if (start + lane < length) {
        const size_t at = (size_t)(top + row) * length + start + lane;
        const int rest = sign_mantissa[at];
        const int number = (rest & 128) << 8 | exponents[warp][row][lane] << 7 | (rest & 127);
        weights[at] = (short)number;
      }
    }
    __syncwarp();
  }
}
