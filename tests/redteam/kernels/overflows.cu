/*@winnow
{ "launches": [ { "kernel": "softmax", "grid": ["rows"], "block": [32], "args": ["x", "y", "cols"] }
] }
@*/
// Leaves the maximum out: right for small scores, overflows for large ones.
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    sum += expf(row[c]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  for (int c = threadIdx.x; c < cols; c += 32) {
    out[c] = expf(row[c]) / sum;
  }
}
