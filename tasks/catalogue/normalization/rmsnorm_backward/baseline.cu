/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "groups": "min(ceil_div(rows, 64), 64)" },
  "scratch": { "scales": { "dtype": "f32", "count": "rows" },
               "partial": { "dtype": "f32", "count": "groups * cols" } },
  "launches": [
    { "kernel": "row_gradient<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "weight", "dy", "dx", "scales", "eps", "cols"] },
    { "kernel": "column_sums", "grid": ["ceil_div(cols, 128)", "groups"], "block": [128],
      "args": ["x", "dy", "scales", "partial", "rows", "cols"] },
    { "kernel": "add_groups", "grid": ["ceil_div(cols, 128)"], "block": [128],
      "args": ["partial", "dweight", "groups", "cols"] }
  ]
}
@*/
// One block a row for dx; then coalesced sums down the columns by groups of rows, and over groups.

// Adds two values over the block.
template <int BLOCK> __device__ float2 block_sum(float2 value) {
  __shared__ float2 shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value.x += __shfl_xor_sync(0xffffffff, value.x, offset);
    value.y += __shfl_xor_sync(0xffffffff, value.y, offset);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float2 sum = make_float2(0.0f, 0.0f);
  for (int warp = 0; warp < BLOCK / 32; ++warp) {
    sum.x += shared[warp].x;
    sum.y += shared[warp].y;
  }
  return sum;
}

template <int BLOCK>
__global__ void row_gradient(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ dy, float* __restrict__ dx,
                             float* __restrict__ scales, float eps, int cols) {
  const size_t start = (size_t)blockIdx.x * cols;
  float2 sums = make_float2(0.0f, 0.0f);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float value = x[start + c];
    sums.x += value * value;
    sums.y += dy[start + c] * weight[c] * value;
  }
  sums = block_sum<BLOCK>(sums);
  const float scale = rsqrtf(sums.x / cols + eps);
  const float factor = scale * scale * (sums.y / cols);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    dx[start + c] = scale * (dy[start + c] * weight[c] - x[start + c] * factor);
  }
  if (threadIdx.x == 0) {
    scales[blockIdx.x] = scale;
  }
}

extern "C" __global__ void column_sums(const float* __restrict__ x, const float* __restrict__ dy,
                                       const float* __restrict__ scales,
                                       float* __restrict__ partial, int rows, int cols) {
  const int c = blockIdx.x * 128 + threadIdx.x;
  if (c >= cols) {
    return;
  }
  float sum = 0.0f;
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    sum += dy[(size_t)row * cols + c] * x[(size_t)row * cols + c] * scales[row];
  }
  partial[(size_t)blockIdx.y * cols + c] = sum;
}

extern "C" __global__ void add_groups(const float* __restrict__ partial,
                                      float* __restrict__ dweight, int groups, int cols) {
  const int c = blockIdx.x * 128 + threadIdx.x;
  if (c >= cols) {
    return;
  }
  float sum = 0.0f;
  for (int group = 0; group < groups; ++group) {
    sum += partial[(size_t)group * cols + c];
  }
  dweight[c] = sum;
}
