/*@winnow
{
  "scratch": { "r": { "dtype": "f32", "count": "h * w" },
               "p": { "dtype": "f32", "count": "h * w" },
               "q": { "dtype": "f32", "count": "h * w" } },
  "launches": [
    { "kernel": "solve", "grid": [1], "block": [1024],
      "args": ["b", "x", "r", "p", "q", "shift", "steps", "h", "w"] }
  ]
}
@*/
// One block does all steps, so that a barrier of the block is enough. A thread adds many thousand
// terms, 256 at a time, because one chain of all terms errs too much.
struct LongSum {
  float total = 0.0f, part = 0.0f;
  int terms = 0;
  __device__ void add(float term) {
    part += term;
    if (++terms == 256) {
      total += part;
      part = 0.0f;
      terms = 0;
    }
  }
  __device__ float value() const { return total + part; }
};

__device__ float block_sum(float value) {
  __shared__ float sums[1024];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
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
  LongSum squares;
  for (long long at = threadIdx.x; at < count; at += 1024) {
    x[at] = 0.0f;
    r[at] = p[at] = b[at];
    squares.add(b[at] * b[at]);
  }
  float rr = block_sum(squares.value());
  for (int step = 0; step < steps; ++step) {
    LongSum along;
    for (long long at = threadIdx.x; at < count; at += 1024) {
      const int i = at / w, j = at % w;
      const float beside = (j > 0 ? p[at - 1] : 0.0f) + (j + 1 < w ? p[at + 1] : 0.0f);
      const float stacked = (i > 0 ? p[at - w] : 0.0f) + (i + 1 < h ? p[at + w] : 0.0f);
      q[at] = 4.0f * p[at] - (beside + stacked) + shift * p[at];
      along.add(p[at] * q[at]);
    }
    const float pq = block_sum(along.value());
    const float alpha = pq != 0.0f ? rr / pq : 0.0f;
    LongSum left;
    for (long long at = threadIdx.x; at < count; at += 1024) {
      x[at] += alpha * p[at];
      r[at] -= alpha * q[at];
      left.add(r[at] * r[at]);
    }
    const float rest = block_sum(left.value());
    const float beta = rr != 0.0f ? rest / rr : 0.0f;
    rr = rest;
    for (long long at = threadIdx.x; at < count; at += 1024) {
      p[at] = r[at] + beta * p[at];
    }
    __syncthreads();
  }
}
