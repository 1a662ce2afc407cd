/*@winnow
{
  "let": { "parts": "ceil_div(h * w, 256)" },
  "scratch": { "r": { "dtype": "f32", "count": "h * w" },
               "even": { "dtype": "f32", "count": "h * w" },
               "odd": { "dtype": "f32", "count": "h * w" },
               "q": { "dtype": "f32", "count": "h * w" },
               "rr_parts": { "dtype": "f32", "count": "parts" },
               "pq_parts": { "dtype": "f32", "count": "parts" },
               "sums": { "dtype": "f64", "count": "2 * steps + 2" } },
  "launches": [
    { "fill": "even", "value": 0 },
    { "fill": "odd", "value": 0 },
    { "fill": "x", "value": 0 },
    { "fill": "sums", "value": 0 },
    { "copy": "b", "to": "r" },
    { "kernel": "square", "grid": ["parts"], "block": [256],
      "args": ["b", "rr_parts", "h * w"] },
    { "kernel": "add_parts", "grid": [1], "block": [256],
      "args": ["rr_parts", { "tensor": "sums", "at": "1" }, "parts"] },
    {
      "repeat": "steps",
      "as": "t",
      "do": [
        { "kernel": "turn_and_apply", "grid": ["parts"], "block": [256],
          "args": ["r", { "pick": ["even", "odd"], "by": "t % 2" },
                   { "pick": ["odd", "even"], "by": "t % 2" }, "q",
                   { "tensor": "sums", "at": "t" }, "pq_parts", "shift", "h", "w"] },
        { "kernel": "add_parts", "grid": [1], "block": [256],
          "args": ["pq_parts", { "tensor": "sums", "at": "steps + 2 + t" }, "parts"] },
        { "kernel": "update", "grid": ["parts"], "block": [256],
          "args": [{ "pick": ["odd", "even"], "by": "t % 2" }, "q", "x", "r",
                   { "tensor": "sums", "at": "t + 1" },
                   { "tensor": "sums", "at": "steps + 2 + t" }, "rr_parts", "h * w"] },
        { "kernel": "add_parts", "grid": [1], "block": [256],
          "args": ["rr_parts", { "tensor": "sums", "at": "t + 2" }, "parts"],
          "when": "t + 1 < steps" }
      ]
    }
  ]
}
@*/
// The new direction is computed where the product needs it: for a point and for its four neighbours.
// Two grids of directions take turns. sums: (r, r) before each step from sums[1], then (p, q).
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
  return sums[0];
}

extern "C" __global__ void square(const float* __restrict__ b, float* parts, long long count) {
  const long long at = blockIdx.x * 256LL + threadIdx.x;
  const float sum = block_sum(at < count ? b[at] * b[at] : 0.0f);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
  }
}

extern "C" __global__ void add_parts(const float* __restrict__ parts, double* sum, int count) {
  __shared__ double sums[256];
  double own = 0;
  for (int n = threadIdx.x; n < count; n += 256) {
    own += parts[n];
  }
  sums[threadIdx.x] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *sum = sums[0];
  }
}

extern "C" __global__ void turn_and_apply(const float* __restrict__ r,
                                          const float* __restrict__ before, float* direction,
                                          float* q, const double* sums, float* parts, float shift,
                                          int h, int w) {
  const long long at = blockIdx.x * 256LL + threadIdx.x;
  const float beta = sums[0] != 0 ? (float)(sums[1] / sums[0]) : 0.0f;
  float term = 0.0f;
  if (at < (long long)h * w) {
    const int i = at / w, j = at % w;
    const float own = r[at] + beta * before[at];
    float around = 0.0f;
    around += i > 0 ? r[at - w] + beta * before[at - w] : 0.0f;
    around += i + 1 < h ? r[at + w] + beta * before[at + w] : 0.0f;
    around += j > 0 ? r[at - 1] + beta * before[at - 1] : 0.0f;
    around += j + 1 < w ? r[at + 1] + beta * before[at + 1] : 0.0f;
    direction[at] = own;
    q[at] = fmaf(4.0f + shift, own, -around);
    term = own * q[at];
  }
  const float sum = block_sum(term);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
  }
}

extern "C" __global__ void update(const float* __restrict__ p, const float* __restrict__ q,
                                  float* x, float* r, const double* rr, const double* pq,
                                  float* parts, long long count) {
  const long long at = blockIdx.x * 256LL + threadIdx.x;
  const float alpha = *pq != 0 ? (float)(*rr / *pq) : 0.0f;
  float rest = 0.0f;
  if (at < count) {
    x[at] += alpha * p[at];
    rest = r[at] - alpha * q[at];
    r[at] = rest;
  }
  const float sum = block_sum(rest * rest);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
  }
}
