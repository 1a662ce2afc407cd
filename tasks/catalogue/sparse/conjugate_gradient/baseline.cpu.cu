/*@winnow
{
  "let": { "padded": "(h + 2) * (w + 1)" },
  "scratch": { "r": { "dtype": "f32", "count": "padded" },
               "p": { "dtype": "f32", "count": "padded" },
               "q": { "dtype": "f32", "count": "padded" } },
  "launches": [
    { "fill": "p", "value": 0 },
    { "kernel": "solve", "grid": [1], "block": [1],
      "args": ["b", "x", "r", "p", "q", "shift", "steps", "h", "w"] }
  ]
}
@*/
// One thread does all steps: the vectors fit into its caches, and a launch takes longer than a pass
// over them. A column of zeros behind each row, and a row of zeros on both sides, are the points
// outside of the grid. So a pass is one loop without tests, eight points at a time.
__device__ double dot(const float* u, const float* v, int count) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int at = 0;
  for (; at + kLanes <= count; at += kLanes) {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += u[at + lane] * v[at + lane];
    }
  }
  double sum = 0;
  for (const float lane : lanes) {
    sum += lane;
  }
  for (; at < count; ++at) {
    sum += u[at] * v[at];
  }
  return sum;
}

__device__ float quotient(double a, double b) { return b != 0 ? (float)(a / b) : 0.0f; }

extern "C" __global__ void solve(const float* __restrict__ b, float* __restrict__ x,
                                 float* __restrict__ r, float* __restrict__ p,
                                 float* __restrict__ q, float shift, int steps, int h, int w) {
  const int stride = w + 1, count = h * stride;
  p += stride;
  for (int i = 0; i < h; ++i) {
    for (int j = 0; j < w; ++j) {
      x[i * w + j] = 0.0f;
      p[i * stride + j] = b[i * w + j];
    }
  }
  for (int at = 0; at < count; ++at) {
    r[at] = p[at];
  }
  double rr = dot(r, r, count);
  for (int step = 0; step < steps; ++step) {
    for (int at = 0; at < count; ++at) {
      q[at] = (4.0f + shift) * p[at] - (p[at - stride] + p[at + stride]) - (p[at - 1] + p[at + 1]);
    }
    for (int i = 0; i < h; ++i) {
      q[i * stride + w] = 0.0f;
    }
    const float alpha = quotient(rr, dot(p, q, count));
    for (int i = 0; i < h; ++i) {
      for (int j = 0; j < w; ++j) {
        x[i * w + j] += alpha * p[i * stride + j];
      }
    }
    for (int at = 0; at < count; ++at) {
      r[at] -= alpha * q[at];
    }
    const double rest = dot(r, r, count);
    const float beta = quotient(rest, rr);
    rr = rest;
    for (int at = 0; at < count; ++at) {
      p[at] = r[at] + beta * p[at];
    }
  }
}
