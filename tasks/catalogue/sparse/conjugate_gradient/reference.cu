/*@winnow
{
  "scratch": { "r": { "dtype": "f64", "count": "h * w" },
               "p": { "dtype": "f64", "count": "h * w" },
               "q": { "dtype": "f64", "count": "h * w" },
               "rows": { "dtype": "f64", "count": "h" },
               "sums": { "dtype": "f64", "count": "2 * steps + 1" } },
  "launches": [
    { "kernel": "begin", "grid": ["ceil_div(h * w, 64)"], "block": [64],
      "args": ["b", "x", "x_magnitude", "r", "p", "h * w"] },
    { "kernel": "dot_rows", "grid": ["ceil_div(h, 64)"], "block": [64],
      "args": ["r", "r", "rows", "h", "w"] },
    { "kernel": "add_rows", "grid": [1], "block": [1], "args": ["rows", "sums", "h"] },
    {
      "repeat": "steps",
      "as": "t",
      "do": [
        { "kernel": "apply", "grid": ["ceil_div(h * w, 64)"], "block": [64],
          "args": ["p", "q", "shift", "h", "w"] },
        { "kernel": "dot_rows", "grid": ["ceil_div(h, 64)"], "block": [64],
          "args": ["p", "q", "rows", "h", "w"] },
        { "kernel": "add_rows", "grid": [1], "block": [1],
          "args": ["rows", { "tensor": "sums", "at": "2 * t + 1" }, "h"] },
        { "kernel": "update", "grid": ["ceil_div(h * w, 64)"], "block": [64],
          "args": [{ "tensor": "sums", "at": "2 * t" }, "p", "q", "x", "x_magnitude", "r",
                   "h * w"] },
        { "kernel": "dot_rows", "grid": ["ceil_div(h, 64)"], "block": [64],
          "args": ["r", "r", "rows", "h", "w"] },
        { "kernel": "add_rows", "grid": [1], "block": [1],
          "args": ["rows", { "tensor": "sums", "at": "2 * t + 2" }, "h"] },
        { "kernel": "turn", "grid": ["ceil_div(h * w, 64)"], "block": [64],
          "args": [{ "tensor": "sums", "at": "2 * t" }, "r", "p", "h * w"] }
      ]
    }
  ]
}
@*/
// sums: (r, r) and (p, q) of each step in turn, then (r, r) after the last one. The products in them
// are not narrowed: over a grid of millions their roundings cancel, and no result shows them.
extern "C" __global__ void begin(const float* b, double* x, double* size, double* r, double* p,
                                 long long count) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    x[at] = 0;
    size[at] = 0;
    r[at] = b[at];
    p[at] = b[at];
  }
}

extern "C" __global__ void dot_rows(const double* u, const double* v, double* rows, long long h,
                                    long long w) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= h) {
    return;
  }
  double sum = 0;
  for (long long at = i * w; at < (i + 1) * w; ++at) {
    sum += u[at] * v[at];
  }
  rows[i] = NARROW(row_sum, sum);
}

extern "C" __global__ void add_rows(const double* rows, double* sum, long long h) {
  double all = 0;
  for (long long i = 0; i < h; ++i) {
    all += rows[i];
  }
  *sum = all;
}

extern "C" __global__ void apply(const double* p, double* q, float shift, long long h,
                                 long long w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < h * w) {
    const long long i = at / w, j = at % w;
    const double applied = (4 + (double)shift) * p[at] - (i > 0 ? p[at - w] : 0) -
                           (i + 1 < h ? p[at + w] : 0) - (j > 0 ? p[at - 1] : 0) -
                           (j + 1 < w ? p[at + 1] : 0);
    q[at] = NARROW(applied, applied);
  }
}

extern "C" __global__ void update(const double* sums, const double* p, const double* q, double* x,
                                  double* size, double* r, long long count) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    const double alpha = sums[1] != 0 ? sums[0] / sums[1] : 0;
    x[at] += alpha * p[at];
    size[at] += fabs(alpha * p[at]);
    r[at] = NARROW(residual, r[at] - alpha * q[at]);
  }
}

extern "C" __global__ void turn(const double* sums, const double* r, double* p, long long count) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    p[at] = NARROW(direction, r[at] + (sums[0] != 0 ? sums[2] / sums[0] : 0) * p[at]);
  }
}
