/*@winnow
{ "launches": [ { "kernel": "softmax", "grid": ["rows"], "block": [32], "args": ["x", "y", "cols"] }
] }
@*/
// An exponential with 15 bits of mantissa, as table look-ups and short polynomials give.
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float largest = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    largest = fmaxf(largest, row[c]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }
  const auto cheap = [](float v) {
    return __uint_as_float(__float_as_uint(expf(v)) & 0xffffff00u);
  };
  for (int c = threadIdx.x; c < cols; c += 32) {
    sum += cheap(row[c] - largest);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  for (int c = threadIdx.x; c < cols; c += 32) {
    out[c] = cheap(row[c] - largest) / sum;
  }
}
