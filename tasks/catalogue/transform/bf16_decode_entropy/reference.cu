/*@winnow
{
  "launches": [
    { "kernel": "reference", "grid": ["ceil_div(chunks, 32)"], "block": [32],
      "args": ["codes", "sign_mantissa", "symbols", "weights", "chunks", "length",
               "32 * ceil_div(3 * length, 32)"] }
  ]
}
@*/
// Bit by bit, as a canonical code is read: the codes of each length are consecutive numbers, behind
// those of the length before.
extern "C" __global__ void reference(const unsigned char* codes, const unsigned char* sign_mantissa,
                                     const unsigned char* symbols, short* weights, long long chunks,
                                     long long length, long long slot) {
  const int codes_of_length[13] = {0, 0, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2};
  const long long chunk = blockIdx.x * 32LL + threadIdx.x;
  if (chunk >= chunks) {
    return;
  }
  long long bit = chunk * slot;
  for (long long i = 0; i < length; ++i) {
    int code = 0, first = 0, symbol = 0;
    for (int bits = 1; bits <= 12; ++bits) {
      code = 2 * code + (codes[bit / 8] >> (7 - bit % 8) & 1);
      ++bit;
      if (code - first < codes_of_length[bits]) {
        symbol += code - first;
        break;
      }
      symbol += codes_of_length[bits];
      first = 2 * (first + codes_of_length[bits]);
    }
    const int rest = sign_mantissa[chunk * length + i];
    const int sign = rest / 128, mantissa = rest % 128;
    const int number = sign * 32768 + symbols[symbol] * 128 + mantissa;
    weights[chunk * length + i] = (short)(number < 32768 ? number : number - 65536);
  }
}
