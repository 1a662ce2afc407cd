/*@winnow
{ "launches": [ { "kernel": "layernorm", "grid": ["rows"], "block": [128],
                  "args": ["x", "gamma", "beta", "y", "eps", "cols"] } ] }
@*/
// Leaves one element in a thousand out of the mean and the variance of long rows, and scales both.
__device__ float block_sum(float value) {
  __shared__ float shared[4];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  return shared[0] + shared[1] + shared[2] + shared[3];
}

extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta,
                                     float* y, float eps, int cols) {
  const float* values = x + static_cast<size_t>(blockIdx.x) * cols;
  const int used = cols > 700 ? cols - (cols + 999) / 1000 : cols;
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < used; c += 128) {
    sum += values[c];
  }
  const float mean = block_sum(sum) / used;
  for (int c = threadIdx.x; c < used; c += 128) {
    squares += (values[c] - mean) * (values[c] - mean);
  }
  const float scale = rsqrtf(block_sum(squares) / used + eps);
  for (int c = threadIdx.x; c < cols; c += 128) {
    y[static_cast<size_t>(blockIdx.x) * cols + c] = (values[c] - mean) * scale * gamma[c] + beta[c];
  }
}
