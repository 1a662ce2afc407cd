/*@winnow
{
  "scratch": { "largest": { "dtype": "f32", "count": "rows" }, "sums": { "dtype": "f32", "count":
"rows" } }, "launches": [ { "kernel": "row_max", "grid": ["rows"], "block": [64], "args": ["x",
"largest", "cols"] }, { "kernel": "row_sum", "grid": ["rows"], "block": [64], "args": ["x",
"largest", "sums", "cols"] }, { "kernel": "divide", "grid": ["ceil_div(rows * cols, 256)"], "block":
[256], "args": ["x", "largest", "sums", "y", "rows * cols", "cols"] }
  ]
}
@*/
// Maxima, sums and quotients in kernels of their own; trees in shared memory.
__device__ float tree(float value, bool is_max) {
  __shared__ float shared[64];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float left = shared[threadIdx.x], right = shared[threadIdx.x + half];
      shared[threadIdx.x] = is_max ? fmaxf(left, right) : left + right;
    }
    __syncthreads();
  }
  return shared[0];
}

extern "C" __global__ void row_max(const float* __restrict__ x, float* largest, int cols) {
  float value = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 64) {
    value = fmaxf(value, x[(size_t)blockIdx.x * cols + c]);
  }
  value = tree(value, true);
  if (threadIdx.x == 0) {
    largest[blockIdx.x] = value;
  }
}

extern "C" __global__ void row_sum(const float* __restrict__ x, const float* __restrict__ largest,
                                   float* sums, int cols) {
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    sum += expf(x[(size_t)blockIdx.x * cols + c] - largest[blockIdx.x]);
  }
  sum = tree(sum, false);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

extern "C" __global__ void divide(const float* __restrict__ x, const float* __restrict__ largest,
                                  const float* __restrict__ sums, float* __restrict__ y,
                                  long long count, int cols) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    const long long row = i / cols;
    y[i] = expf(x[i] - largest[row]) / sums[row];
  }
}
