/*@winnow
{ "launches": [ { "kernel": "rmsnorm", "grid": ["rows"], "block": [128],
                  "args": ["x", "weight", "y", "eps", "cols"] } ] }
@*/
extern "C" __global__ void rmsnorm(const float* x, const float* weight, float* y, float eps,
                                   int cols) {
  __shared__ float sums[128];
  const float* values = x + (size_t)blockIdx.x * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 128) {
    squares += values[c] * values[c];
  }
  sums[threadIdx.x] = squares;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
  }
  __syncthreads();
  const float scale = rsqrtf(sums[0] / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 128) {
    y[(size_t)blockIdx.x * cols + c] = values[c] * scale * weight[c];
  }
}
