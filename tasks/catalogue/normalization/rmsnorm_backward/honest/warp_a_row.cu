/*@winnow
{
  "scratch": { "terms": { "dtype": "f32", "count": "rows * cols" } },
  "launches": [
    { "kernel": "row_gradient", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
      "args": ["x", "weight", "dy", "dx", "terms", "eps", "rows", "cols"] },
    { "kernel": "column_tree", "grid": ["cols"], "block": [64],
      "args": ["terms", "dweight", "rows", "cols"] }
  ]
}
@*/
// One warp a row writes the terms of the weight's gradient; a tree in shared memory for each
// column.
extern "C" __global__ void row_gradient(const float* __restrict__ x,
                                        const float* __restrict__ weight,
                                        const float* __restrict__ dy, float* __restrict__ dx,
                                        float* __restrict__ terms, float eps, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const size_t start = (size_t)row * cols;
  float squares = 0.0f, projection = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    squares += x[start + c] * x[start + c];
    projection += dy[start + c] * weight[c] * x[start + c];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    squares += __shfl_xor_sync(0xffffffff, squares, offset);
    projection += __shfl_xor_sync(0xffffffff, projection, offset);
  }
  const float scale = rsqrtf(squares / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float normalised = x[start + c] * scale;
    terms[start + c] = dy[start + c] * normalised;
    dx[start + c] =
        scale * dy[start + c] * weight[c] - normalised * (scale * scale) * (projection / cols);
  }
}

extern "C" __global__ void column_tree(const float* __restrict__ terms, float* __restrict__ dweight,
                                       int rows, int cols) {
  __shared__ float shared[64];
  float sum = 0.0f;
  for (int row = threadIdx.x; row < rows; row += 64) {
    sum += terms[(size_t)row * cols + blockIdx.x];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    dweight[blockIdx.x] = shared[0];
  }
}
