/*@winnow
{
  "scratch": { "r": { "dtype": "f32", "count": "h * w" },
               "p": { "dtype": "f32", "count": "h * w" },
               "q": { "dtype": "f32", "count": "h * w" },
               "sums": { "dtype": "f64", "count": "2 * steps + 1" } },
  "launches": [
    { "fill": "sums", "value": 0 },
    { "kernel": "begin", "grid": ["ceil_div(h * w, 128)"], "block": [128],
      "args": ["b", "x", "r", "p", "sums", "h * w"] },
    {
      "repeat": "steps",
      "as": "t",
      "do": [
        { "kernel": "apply", "grid": ["ceil_div(w, 32)", "ceil_div(h, 4)"], "block": [32, 4],
          "args": ["p", "q", { "tensor": "sums", "at": "2 * t + 1" }, "shift", "h", "w"] },
        { "kernel": "update", "grid": ["ceil_div(h * w, 128)"], "block": [128],
          "args": ["p", "q", "x", "r", { "tensor": "sums", "at": "2 * t" }, "h * w"] },
        { "kernel": "turn", "grid": ["ceil_div(h * w, 128)"], "block": [128],
          "args": ["r", "p", { "tensor": "sums", "at": "2 * t" }, "h * w"] }
      ]
    }
  ]
}
@*/
// A thread a point. Each warp adds its part of a sum in double by an atomic.
__device__ void add(double value, double* sum, int lane) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, value, offset);
  }
  if (lane == 0) {
    atomicAdd(sum, value);
  }
}

__device__ float quotient(double a, double b) { return b != 0 ? (float)(a / b) : 0.0f; }

extern "C" __global__ void begin(const float* __restrict__ b, float* x, float* r, float* p,
                                 double* rr, long long count) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  const float value = at < count ? b[at] : 0.0f;
  if (at < count) {
    x[at] = 0.0f;
    r[at] = value;
    p[at] = value;
  }
  add((double)value * value, rr, threadIdx.x % 32);
}

extern "C" __global__ void apply(const float* __restrict__ p, float* q, double* pq, float shift,
                                 int h, int w) {
  const int i = blockIdx.y * 4 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  const size_t at = (size_t)i * w + j;
  double term = 0;
  if (i < h && j < w) {
    float value = (4.0f + shift) * p[at];
    value -= i > 0 ? p[at - w] : 0.0f;
    value -= i + 1 < h ? p[at + w] : 0.0f;
    value -= j > 0 ? p[at - 1] : 0.0f;
    value -= j + 1 < w ? p[at + 1] : 0.0f;
    q[at] = value;
    term = (double)p[at] * value;
  }
  add(term, pq, threadIdx.x);
}

// sums: (r, r), (p, q), and (r, r) after the step.
extern "C" __global__ void update(const float* __restrict__ p, const float* __restrict__ q,
                                  float* x, float* r, double* sums, long long count) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  const float alpha = quotient(sums[0], sums[1]);
  float rest = 0.0f;
  if (at < count) {
    x[at] = fmaf(alpha, p[at], x[at]);
    rest = fmaf(-alpha, q[at], r[at]);
    r[at] = rest;
  }
  add((double)rest * rest, sums + 2, threadIdx.x % 32);
}

extern "C" __global__ void turn(const float* __restrict__ r, float* p, const double* sums,
                                long long count) {
  const long long at = blockIdx.x * 128LL + threadIdx.x;
  if (at < count) {
    p[at] = fmaf(quotient(sums[2], sums[0]), p[at], r[at]);
  }
}
