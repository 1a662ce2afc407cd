/*@winnow
{
  "let": { "parts": "ceil_div(cols, 1024)" },
  "scratch": { "best": { "dtype": "u64", "count": "rows" } },
  "launches": [
    { "fill": "best", "value": 0 },
    { "kernel": "reduce", "grid": ["rows * parts"], "block": [64],
      "args": ["x", "best", "cols", "parts"] },
    { "kernel": "unpack", "grid": ["ceil_div(rows, 64)"], "block": [64],
      "args": ["best", "out", "rows"] }
  ]
}
@*/
// Value and index in one integer of 64 bits whose order is that of the answer; several blocks a
// row.
__device__ unsigned long long packed(float value, int index) {
  unsigned bits = __float_as_uint(value);
  bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return (unsigned long long)bits << 32 | (0xffffffffu - (unsigned)index);
}

extern "C" __global__ void reduce(const float* __restrict__ x, unsigned long long* best, int cols,
                                  int parts) {
  const int row = blockIdx.x / parts, begin = blockIdx.x % parts * 1024;
  const int end = min(begin + 1024, cols);
  unsigned long long largest = 0;
  for (int c = begin + threadIdx.x; c < end; c += 64) {
    const unsigned long long one = packed(x[(size_t)row * cols + c], c);
    largest = one > largest ? one : largest;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffff, largest, offset);
    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(best + row, largest);
  }
}

extern "C" __global__ void unpack(const unsigned long long* __restrict__ best,
                                  int* __restrict__ out, int rows) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row < rows) {
    out[row] = (int)(0xffffffffu - (unsigned)(best[row] & 0xffffffffu));
  }
}
