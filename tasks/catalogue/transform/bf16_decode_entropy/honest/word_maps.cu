/*@winnow
{
  "params": { "T": [32] },
  "let": { "slot": "ceil_div(3 * length, 32)" },
  "launches": [
    { "kernel": "decode", "grid": ["chunks"], "block": ["T"],
      "args": ["codes", "sign_mantissa", "symbols", "weights", "length", "slot",
               "chunks * slot + ceil_div(3 * length, 8)"] }
  ]
}
@*/
// A block has one chunk, and a thread a word of it. A code begins in one of the first 12 bits of
// the word. For each of them the thread finds out where the first code of the next word begins, and
// how many begin in its own. One thread follows these maps from word to word; then all decode.
__device__ int bits_at(unsigned long long window, int at, int& symbol) {
  const unsigned bits = (unsigned)(window << at >> 32);
  const int ones = min(__clz(~bits), 12);
  if (ones == 0) {
    symbol = bits >> 30;
    return 2;
  }
  if (ones < 3) {
    symbol = 2 + (bits >> 29 & 3);
    return 3;
  }
  symbol = ones + 2;
  return min(ones + 1, 12);
}

extern "C" __global__ void decode(const unsigned char* __restrict__ codes,
                                  const unsigned char* __restrict__ sign_mantissa,
                                  const unsigned char* __restrict__ symbols,
                                  short* __restrict__ weights, int length, int slot,
                                  long long words) {
  __shared__ unsigned char maps[T][12]; // where the first code of the next word begins
  __shared__ unsigned char counts[T][12];
  __shared__ int begins[T], places[T];
  __shared__ int begin, place; // of the next word
  const int thread = threadIdx.x;
  const unsigned* all = reinterpret_cast<const unsigned*>(codes);
  if (thread == 0) {
    begin = place = 0;
  }
  __syncthreads();
  for (long long first = (long long)blockIdx.x * slot; place < length; first += T) {
    const long long at = first + thread;
    const unsigned high = at < words ? __byte_perm(all[at], 0, 0x0123) : 0;
    const unsigned low = at + 1 < words ? __byte_perm(all[at + 1], 0, 0x0123) : 0;
    const unsigned long long window = (unsigned long long)high << 32 | low;
    int symbol = 0;
    for (int start = 0; start < 12; ++start) {
      int bit = start, count = 0;
      while (bit < 32) {
        bit += bits_at(window, bit, symbol);
        ++count;
      }
      maps[thread][start] = (unsigned char)(bit - 32);
      counts[thread][start] = (unsigned char)count;
    }
    __syncthreads();
    if (thread == 0) {
      for (int word = 0; word < T; ++word) {
        begins[word] = begin;
        places[word] = place;
        place += counts[word][begin];
        begin = maps[word][begin];
      }
    }
    __syncthreads();
    int bit = begins[thread];
    for (int i = places[thread]; i < length && bit < 32; ++i) {
      bit += bits_at(window, bit, symbol);
      const size_t to = (size_t)blockIdx.x * length + i;
      const int rest = sign_mantissa[to];
      weights[to] = (short)((rest & 128) << 8 | symbols[symbol] << 7 | (rest & 127));
    }
    __syncthreads();
  }
}
