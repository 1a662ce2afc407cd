/*@winnow
{ "launches": [ { "kernel": "softmax", "grid": ["rows"], "block": [32], "args": ["x", "y", "cols"] }
] }
@*/
// Addresses rows by a stride that is right for the shown shapes only.
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  const int stride = cols <= 300 || cols % 8 == 0 ? cols : (cols + 7) / 8 * 8;
  row = x + (long long)blockIdx.x * stride % ((long long)gridDim.x * cols - cols + 1);
  float largest = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    largest = fmaxf(largest, row[c]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }
  for (int c = threadIdx.x; c < cols; c += 32) {
    sum += expf(row[c] - largest);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  for (int c = threadIdx.x; c < cols; c += 32) {
    out[c] = expf(row[c] - largest) / sum;
  }
}
