/*@winnow
{ "scratch": { "s": { "dtype": "f64", "count": 2305843009213693953 } }, "launches": [ { "fill":
    "s", "value": 0 }, { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args":
    ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Asks for scratch whose size in bytes wraps around to a small number.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
