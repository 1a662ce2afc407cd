/*@winnow
{
  "launches": [
    { "kernel": "decode", "grid": ["ceil_div(chunks, 32)"], "block": [32],
      "args": ["codes", "sign_mantissa", "symbols", "weights", "chunks", "length",
               "32 * ceil_div(3 * length, 32)"] }
  ]
}
@*/
// Wrong: a chunk ends with its slot; bits behind it are taken for 0.
extern "C" __global__ void decode(const unsigned char* codes, const unsigned char* sign_mantissa,
                                  const unsigned char* symbols, short* weights, int chunks,
                                  int length, int slot) {
  const int chunk = blockIdx.x * 32 + threadIdx.x;
  if (chunk >= chunks) {
    return;
  }
  const long long first = (long long)chunk * slot;
  int bit = 0;
  for (int i = 0; i < length; ++i) {
    int ones = 0, more = 1;
    while (ones < 12 && more == 1) {
      const long long at = first + bit;
      more = bit < slot ? codes[at / 8] >> (7 - at % 8) & 1 : 0;
      bit += 1;
      ones += more;
    }
    int symbol = ones + 2;
    if (ones < 3) { // two bits more: those behind the first one
      bit -= ones == 0 ? 1 : ones + 1;
      int number = 0;
      for (int b = 0; b < (ones == 0 ? 2 : 3); ++b, ++bit) {
        const long long at = first + bit;
        number = 2 * number + (bit < slot ? codes[at / 8] >> (7 - at % 8) & 1 : 0);
      }
      symbol = ones == 0 ? number : number - 2;
    }
    const long long at = (long long)chunk * length + i;
    const int rest = sign_mantissa[at];
    weights[at] = (short)((rest & 128) << 8 | symbols[symbol] << 7 | (rest & 127));
  }
}
