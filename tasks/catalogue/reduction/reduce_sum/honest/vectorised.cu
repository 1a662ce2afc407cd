/*@winnow
{
  "let": { "blocks": "min(ceil_div(n, 1024), 96)" },
  "scratch": { "partial": { "dtype": "f32", "count": "blocks" } },
  "launches": [
    { "kernel": "block_sums", "grid": ["blocks"], "block": [256], "args": ["x", "partial", "n"] },
    { "kernel": "last_sum", "grid": [1], "block": [32], "args": ["partial", "out", "blocks"] }
  ]
}
@*/
// Four elements a load in four sums of their own, the tail by the first block; warps by shuffles.
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, value, offset);
  }
  return value;
}

extern "C" __global__ void block_sums(const float* __restrict__ x, float* partial, int n) {
  __shared__ float shared[8];
  const float4* fours = reinterpret_cast<const float4*>(x);
  float4 sums = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n / 4; i += gridDim.x * 256) {
    const float4 four = fours[i];
    sums.x += four.x;
    sums.y += four.y;
    sums.z += four.z;
    sums.w += four.w;
  }
  float sum = (sums.x + sums.y) + (sums.z + sums.w);
  const int tail = n / 4 * 4 + threadIdx.x;
  if (blockIdx.x == 0 && tail < n) {
    sum += x[tail];
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < 8 ? shared[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) {
      partial[blockIdx.x] = sum;
    }
  }
}

extern "C" __global__ void last_sum(const float* __restrict__ partial, float* out, int count) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += 32) {
    sum += partial[i];
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) {
    out[0] = sum;
  }
}
