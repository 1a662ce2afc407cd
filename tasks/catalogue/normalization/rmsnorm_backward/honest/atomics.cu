/*@winnow
{
  "launches": [
    { "fill": "dweight", "value": 0 },
    { "kernel": "gradient", "grid": ["rows"], "block": [64],
      "args": ["x", "weight", "dy", "dx", "dweight", "eps", "cols"] }
  ]
}
@*/
// One block a row computes everything; the gradient of the weight by atomics.

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

extern "C" __global__ void gradient(const float* __restrict__ x, const float* __restrict__ weight,
                                    const float* __restrict__ dy, float* __restrict__ dx,
                                    float* dweight, float eps, int cols) {
  const size_t start = (size_t)blockIdx.x * cols;
  float2 sums = make_float2(0.0f, 0.0f);
  for (int c = threadIdx.x; c < cols; c += 64) {
    sums.x = fmaf(x[start + c], x[start + c], sums.x);
    sums.y = fmaf(dy[start + c] * x[start + c], weight[c], sums.y);
  }
  sums = block_sum<64>(sums);
  const float scale = 1.0f / sqrtf(sums.x / cols + eps);
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float normalised = x[start + c] * scale;
    const float slope = normalised * scale * (sums.y / cols);
    dx[start + c] = scale * fmaf(dy[start + c], weight[c], -slope);
    atomicAdd(dweight + c, dy[start + c] * normalised);
  }
}
