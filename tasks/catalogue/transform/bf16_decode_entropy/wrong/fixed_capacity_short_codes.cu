/*@winnow
{
  "launches": [
    { "kernel": "decode", "grid": ["ceil_div(chunks, 32)"], "block": [32],
      "args": ["codes", "sign_mantissa", "symbols", "weights", "chunks", "length",
               "32 * ceil_div(3 * length, 32)"] }
  ]
}
@*/
// Wrong: a table of 8 bits, as if no code had more.
extern "C" __global__ void decode(const unsigned char* codes, const unsigned char* sign_mantissa,
                                  const unsigned char* symbols, short* weights, int chunks,
                                  int length, int slot) {
  const int bits_of[10] = {2, 2, 3, 3, 3, 4, 5, 6, 7, 8};
  const int chunk = blockIdx.x * 32 + threadIdx.x;
  if (chunk >= chunks) {
    return;
  }
  long long bit = (long long)chunk * slot;
  for (int i = 0; i < length; ++i) {
    const int two = codes[bit / 8] << 8 | codes[bit / 8 + 1];
    const int bits = two >> (8 - bit % 8) & 255;
    int symbol = 0, end = 64;
    while (bits >= end && symbol < 9) {
      ++symbol;
      end += 256 >> bits_of[symbol];
    }
    bit += bits_of[symbol];
    const long long at = (long long)chunk * length + i;
    const int rest = sign_mantissa[at];
    weights[at] = (short)((rest & 128) << 8 | symbols[symbol] << 7 | (rest & 127));
  }
}
