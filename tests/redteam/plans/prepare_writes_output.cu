/*@winnow
{ "prepare": [ { "fill": "z", "value": 1 } ], "launches": [ { "kernel": "axpy", "when": "n < 0",
    "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Writes the output in prepare, which is not timed, and leaves it there.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
