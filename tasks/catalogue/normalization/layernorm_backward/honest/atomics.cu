/*@winnow
{
  "launches": [
    { "fill": "dgamma", "value": 0 },
    { "fill": "dbeta", "value": 0 },
    { "kernel": "layernorm_backward", "grid": ["rows"], "block": [64],
      "args": ["x", "gamma", "dy", "dx", "dgamma", "dbeta", "eps", "cols"] }
  ]
}
@*/
// A single kernel: a block a row, sums by a tree in shared memory, columns by atomics.
__device__ float tree(float value) {
  __shared__ float shared[64];
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  return shared[0];
}

extern "C" __global__ void layernorm_backward(const float* __restrict__ x,
                                              const float* __restrict__ gamma,
                                              const float* __restrict__ dy, float* __restrict__ dx,
                                              float* dgamma, float* dbeta, float eps, int cols) {
  const size_t start = (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    sum += x[start + c];
  }
  const float mean = tree(sum) / cols;
  float squares = 0.0f, slopes = 0.0f, products = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float difference = x[start + c] - mean, slope = dy[start + c] * gamma[c];
    squares = fmaf(difference, difference, squares);
    slopes += slope;
    products = fmaf(slope, difference, products);
  }
  const float scale = 1.0f / sqrtf(tree(squares) / cols + eps);
  const float shift = tree(slopes) / cols, projection = tree(products) * scale / cols;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float normalised = (x[start + c] - mean) * scale;
    dx[start + c] = (dy[start + c] * gamma[c] - shift - normalised * projection) * scale;
    atomicAdd(&dgamma[c], dy[start + c] * normalised);
    atomicAdd(&dbeta[c], dy[start + c]);
  }
}
