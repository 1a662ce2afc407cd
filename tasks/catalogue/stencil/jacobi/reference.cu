/*@winnow
{
  "scratch": { "u": { "dtype": "f64", "count": "2 * h * w" },
               "u_size": { "dtype": "f64", "count": "2 * h * w" } },
  "launches": [
    { "kernel": "begin", "grid": ["ceil_div(h * w, 64)"], "block": [64],
      "args": ["start", "u", "u_size", "h * w"] },
    { "repeat": "steps", "as": "t",
      "do": [ { "kernel": "step", "grid": ["ceil_div(h * w, 64)"], "block": [64],
                "args": [{"tensor": "u", "at": "t % 2 * h * w"},
                         {"tensor": "u_size", "at": "t % 2 * h * w"}, "b",
                         {"tensor": "u", "at": "(t + 1) % 2 * h * w"},
                         {"tensor": "u_size", "at": "(t + 1) % 2 * h * w"}, "h * w", "h",
                         "w"] } ] },
    { "copy": { "tensor": "u", "at": "steps % 2 * h * w" }, "to": "out", "count": "h * w" },
    { "copy": { "tensor": "u_size", "at": "steps % 2 * h * w" }, "to": "out_magnitude",
      "count": "h * w" }
  ]
}
@*/
extern "C" __global__ void begin(const float* start, double* u, double* size, long long count) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    u[at] = start[at];
    size[at] = fabs((double)start[at]);
  }
}

__device__ double around(const double* u, long long at, long long h, long long w) {
  const long long i = at / w, j = at % w;
  return (i > 0 ? u[at - w] : 0) + (i + 1 < h ? u[at + w] : 0) + (j > 0 ? u[at - 1] : 0) +
         (j + 1 < w ? u[at + 1] : 0);
}

extern "C" __global__ void step(const double* u, const double* size, const float* b, double* next,
                                double* next_size, long long count, long long h, long long w) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    next[at] = NARROW(value, (NARROW(neighbours, around(u, at, h, w)) + b[at]) / 4);
    next_size[at] = (around(size, at, h, w) + fabs((double)b[at])) / 4;
  }
}
