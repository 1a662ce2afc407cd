/*@winnow
{
  "scratch": { "r": { "dtype": "f32", "count": "h * w" },
               "p": { "dtype": "f32", "count": "h * w" },
               "q": { "dtype": "f32", "count": "h * w" } },
  "launches": [
    { "kernel": "solve", "grid": [1], "block": [256],
      "args": ["b", "x", "r", "p", "q", "shift", "steps", "h", "w"] }
  ]
}
@*/
// One block does all steps, so that a barrier of the block is enough: the longest chains of additions.
__device__ float block_sum(float value) {
  __shared__ float sums[256];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  const float sum = sums[0];
  __syncthreads();
  return sum;
}

extern "C" __global__ void solve(const float* b, float* x, float* r, float* p, float* q,
                                 float shift, int steps, int h, int w) {
  const long long count = (long long)h * w;
  float part = 0.0f;
  for (long long at = threadIdx.x; at < count; at += 256) {
    x[at] = 0.0f;
    r[at] = p[at] = b[at];
    part += b[at] * b[at];
  }
  float rr = block_sum(part);
  for (int step = 0; step < steps; ++step) {
    part = 0.0f;
    for (long long at = threadIdx.x; at < count; at += 256) {
      const int i = at / w, j = at % w;
      const float beside = (j > 0 ? p[at - 1] : 0.0f) + (j + 1 < w ? p[at + 1] : 0.0f);
      const float stacked = (i > 0 ? p[at - w] : 0.0f) + (i + 1 < h ? p[at + w] : 0.0f);
      q[at] = 4.0f * p[at] - (beside + stacked) + shift * p[at];
      part += p[at] * q[at];
    }
    const float pq = block_sum(part);
    const float alpha = pq != 0.0f ? rr / pq : 0.0f;
    part = 0.0f;
    for (long long at = threadIdx.x; at < count; at += 256) {
      x[at] += alpha * p[at];
      r[at] -= alpha * q[at];
      part += r[at] * r[at];
    }
    const float rest = block_sum(part);
    const float beta = rr != 0.0f ? rest / rr : 0.0f;
    rr = rest;
    for (long long at = threadIdx.x; at < count; at += 256) {
      p[at] = r[at] + beta * p[at];
    }
    __syncthreads();
  }
}
