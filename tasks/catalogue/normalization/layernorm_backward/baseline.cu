/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "groups": "min(ceil_div(rows, 64), 64)" },
  "scratch": { "moments": { "dtype": "f32", "count": "2 * rows" },
               "partial": { "dtype": "f32", "count": "2 * groups * cols" } },
  "launches": [
    { "kernel": "row_gradient<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "args": ["x", "gamma", "dy", "dx", "moments", "eps", "cols"] },
    { "kernel": "column_sums", "grid": ["ceil_div(cols, 128)", "groups"], "block": [128],
      "args": ["x", "dy", "moments", "partial", "rows", "cols"] },
    { "kernel": "add_groups", "grid": ["ceil_div(cols, 128)"], "block": [128],
      "args": ["partial", "dgamma", "dbeta", "groups", "cols"] }
  ]
}
@*/
// One block a row for dx; then coalesced sums down the columns by groups of rows, and over groups.
// moments: mean and scale of each row. partial: the two sums of each group and column.

// Adds three values over the block.
template <int BLOCK> __device__ float3 block_sum(float3 value) {
  __shared__ float3 shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value.x += __shfl_xor_sync(0xffffffff, value.x, offset);
    value.y += __shfl_xor_sync(0xffffffff, value.y, offset);
    value.z += __shfl_xor_sync(0xffffffff, value.z, offset);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float3 sum = make_float3(0.0f, 0.0f, 0.0f);
  for (int warp = 0; warp < BLOCK / 32; ++warp) {
    sum.x += shared[warp].x;
    sum.y += shared[warp].y;
    sum.z += shared[warp].z;
  }
  return sum;
}

template <int BLOCK>
__global__ void row_gradient(const float* __restrict__ x, const float* __restrict__ gamma,
                             const float* __restrict__ dy, float* __restrict__ dx,
                             float* __restrict__ moments, float eps, int cols) {
  const size_t start = (size_t)blockIdx.x * cols;
  float3 sums = make_float3(0.0f, 0.0f, 0.0f);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    sums.x += x[start + c];
  }
  const float mean = block_sum<BLOCK>(sums).x / cols;
  sums = make_float3(0.0f, 0.0f, 0.0f);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float difference = x[start + c] - mean, slope = dy[start + c] * gamma[c];
    sums.x += difference * difference;
    sums.y += slope;
    sums.z += slope * difference;
  }
  sums = block_sum<BLOCK>(sums);
  const float scale = rsqrtf(sums.x / cols + eps), shift = sums.y / cols;
  const float factor = scale * scale * (sums.z / cols);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float difference = x[start + c] - mean, slope = dy[start + c] * gamma[c];
    dx[start + c] = scale * (slope - shift - difference * factor);
  }
  if (threadIdx.x == 0) {
    moments[2 * blockIdx.x] = mean;
    moments[2 * blockIdx.x + 1] = scale;
  }
}

extern "C" __global__ void column_sums(const float* __restrict__ x, const float* __restrict__ dy,
                                       const float* __restrict__ moments,
                                       float* __restrict__ partial, int rows, int cols) {
  const int c = blockIdx.x * 128 + threadIdx.x;
  if (c >= cols) {
    return;
  }
  float weighted = 0.0f, sum = 0.0f;
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const float slope = dy[(size_t)row * cols + c];
    weighted += slope * (x[(size_t)row * cols + c] - moments[2 * row]) * moments[2 * row + 1];
    sum += slope;
  }
  partial[(size_t)blockIdx.y * cols + c] = weighted;
  partial[(size_t)(gridDim.y + blockIdx.y) * cols + c] = sum;
}

extern "C" __global__ void add_groups(const float* __restrict__ partial, float* __restrict__ dgamma,
                                      float* __restrict__ dbeta, int groups, int cols) {
  const int c = blockIdx.x * 128 + threadIdx.x;
  if (c >= cols) {
    return;
  }
  float weighted = 0.0f, sum = 0.0f;
  for (int group = 0; group < groups; ++group) {
    weighted += partial[(size_t)group * cols + c];
    sum += partial[(size_t)(groups + group) * cols + c];
  }
  dgamma[c] = weighted;
  dbeta[c] = sum;
}
