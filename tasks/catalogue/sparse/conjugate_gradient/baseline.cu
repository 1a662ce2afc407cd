/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "let": { "blocks": "min(ceil_div(h * w, 4 * BLOCK), 1024)" },
  "scratch": { "r": { "dtype": "f32", "count": "h * w" },
               "p": { "dtype": "f32", "count": "h * w" },
               "q": { "dtype": "f32", "count": "h * w" },
               "rr": { "dtype": "f32", "count": "2 * blocks" },
               "pq": { "dtype": "f32", "count": "blocks" } },
  "launches": [
    { "kernel": "begin<{BLOCK}>", "grid": ["blocks"], "block": ["BLOCK"],
      "args": ["b", "x", "r", "p", "rr", "h * w"] },
    {
      "repeat": "steps",
      "as": "t",
      "let": { "old": "t % 2 * blocks", "new": "(t + 1) % 2 * blocks" },
      "do": [
        { "kernel": "apply<{BLOCK}>", "grid": ["blocks"], "block": ["BLOCK"],
          "args": ["p", "q", "pq", "shift", "h", "w"] },
        { "kernel": "update<{BLOCK}>", "grid": ["blocks"], "block": ["BLOCK"],
          "args": ["p", "q", "x", "r", { "tensor": "rr", "at": "old" }, "pq",
                   { "tensor": "rr", "at": "new" }, "blocks", "h * w"] },
        { "kernel": "turn<{BLOCK}>", "grid": ["blocks"], "block": ["BLOCK"],
          "args": ["r", "p", { "tensor": "rr", "at": "old" }, { "tensor": "rr", "at": "new" },
                   "blocks", "h * w"] }
      ]
    }
  ]
}
@*/
// Three launches a step. Every block leaves its part of a sum; the next kernel adds the parts, in each
// block again.
template <int BLOCK> __device__ float block_sum(float value) {
  __shared__ float shared[BLOCK / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset);
  }
  if (threadIdx.x % 32 == 0) {
    shared[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < BLOCK / 32; ++warp) {
    sum += shared[warp];
  }
  __syncthreads();
  return sum;
}

template <int BLOCK> __device__ float sum_of(const float* parts, int blocks) {
  float sum = 0.0f;
  for (int n = threadIdx.x; n < blocks; n += BLOCK) {
    sum += parts[n];
  }
  return block_sum<BLOCK>(sum);
}

__device__ float quotient(float a, float b) { return b != 0.0f ? a / b : 0.0f; }

template <int BLOCK> __device__ void leave(float sum, float* parts) {
  sum = block_sum<BLOCK>(sum);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
  }
}

template <int BLOCK>
__global__ void begin(const float* __restrict__ b, float* __restrict__ x, float* __restrict__ r,
                      float* __restrict__ p, float* __restrict__ rr, long long count) {
  float sum = 0.0f;
  for (long long at = blockIdx.x * (long long)BLOCK + threadIdx.x; at < count;
       at += (long long)gridDim.x * BLOCK) {
    const float value = b[at];
    x[at] = 0.0f;
    r[at] = value;
    p[at] = value;
    sum += value * value;
  }
  leave<BLOCK>(sum, rr);
}

template <int BLOCK>
__global__ void apply(const float* __restrict__ p, float* __restrict__ q, float* __restrict__ pq,
                      float shift, int h, int w) {
  float sum = 0.0f;
  for (long long at = blockIdx.x * (long long)BLOCK + threadIdx.x; at < (long long)h * w;
       at += (long long)gridDim.x * BLOCK) {
    const int i = at / w, j = at % w;
    const float around = (i > 0 ? p[at - w] : 0.0f) + (i + 1 < h ? p[at + w] : 0.0f) +
                         (j > 0 ? p[at - 1] : 0.0f) + (j + 1 < w ? p[at + 1] : 0.0f);
    const float value = (4.0f + shift) * p[at] - around;
    q[at] = value;
    sum += p[at] * value;
  }
  leave<BLOCK>(sum, pq);
}

template <int BLOCK>
__global__ void update(const float* __restrict__ p, const float* __restrict__ q,
                       float* __restrict__ x, float* __restrict__ r,
                       const float* __restrict__ rr_old, const float* __restrict__ pq,
                       float* __restrict__ rr_new, int blocks, long long count) {
  const float rr = sum_of<BLOCK>(rr_old, blocks);
  const float alpha = quotient(rr, sum_of<BLOCK>(pq, blocks));
  float sum = 0.0f;
  for (long long at = blockIdx.x * (long long)BLOCK + threadIdx.x; at < count;
       at += (long long)gridDim.x * BLOCK) {
    x[at] += alpha * p[at];
    const float rest = r[at] - alpha * q[at];
    r[at] = rest;
    sum += rest * rest;
  }
  leave<BLOCK>(sum, rr_new);
}

template <int BLOCK>
__global__ void turn(const float* __restrict__ r, float* __restrict__ p,
                     const float* __restrict__ rr_old, const float* __restrict__ rr_new,
                     int blocks, long long count) {
  const float rr = sum_of<BLOCK>(rr_new, blocks);
  const float beta = quotient(rr, sum_of<BLOCK>(rr_old, blocks));
  for (long long at = blockIdx.x * (long long)BLOCK + threadIdx.x; at < count;
       at += (long long)gridDim.x * BLOCK) {
    p[at] = r[at] + beta * p[at];
  }
}
