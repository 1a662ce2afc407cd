/*@winnow
{
  "scratch": { "mean": { "dtype": "f32", "count": "rows" }, "scale": { "dtype": "f32", "count":
"rows" } }, "launches": [ { "kernel": "moments", "grid": ["rows"], "block": [64], "args": ["x",
"mean", "scale", "eps", "cols"] }, { "kernel": "normalise", "grid": ["ceil_div(rows * cols, 256)"],
"block": [256], "args": ["x", "gamma", "beta", "mean", "scale", "y", "rows * cols", "cols"] }
  ]
}
@*/
// Wrong: E[x^2] - mean^2 keeps nothing of the variance behind a large mean. The sums are those that
// one block a row forms in one pass; a second kernel applies them.
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

extern "C" __global__ void moments(const float* __restrict__ x, float* mean, float* scale,
                                   float eps, int cols) {
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float value = x[(size_t)blockIdx.x * cols + c];
    sum += value;
    squares += value * value;
  }
  sum = tree(sum) / cols;
  squares = tree(squares) / cols;
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = sum;
    scale[blockIdx.x] = rsqrtf(fmaxf(squares - sum * sum, 0.0f) + eps);
  }
}

extern "C" __global__ void normalise(const float* __restrict__ x, const float* __restrict__ gamma,
                                     const float* __restrict__ beta, const float* __restrict__ mean,
                                     const float* __restrict__ scale, float* __restrict__ y,
                                     long long count, int cols) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    const long long row = i / cols, column = i % cols;
    y[i] = (x[i] - mean[row]) * scale[row] * gamma[column] + beta[column];
  }
}
