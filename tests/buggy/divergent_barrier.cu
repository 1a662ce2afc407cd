/*@winnow
{
  "launches": [
    { "kernel": "softmax", "grid": ["rows"], "block": [128], "args": ["x", "y", "cols"] }
  ]
}
@*/
// Threads beyond the row leave before the barriers that the others wait at.
extern "C" __global__ void softmax(const float* x, float* y, int cols) {
  __shared__ float shared[128];
  const float* row = x + (size_t)blockIdx.x * cols;
  if (threadIdx.x >= cols) {
    return;
  }
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 128) {
    largest = fmaxf(largest, row[c]);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }
  shared[threadIdx.x] = largest;
  __syncthreads();
  for (int warp = 0; warp < 4; ++warp) {
    largest = fmaxf(largest, shared[warp * 32]);
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += expf(row[c] - largest);
  }
  for (int c = threadIdx.x; c < cols; c += 128) {
    y[(size_t)blockIdx.x * cols + c] = expf(row[c] - largest) / sum;
  }
}
