/*@winnow
{ "launches": [ { "fill": "x", "value": 0 }, { "kernel": "axpy", "grid": ["ceil_div(n, 256)"],
    "block": [256], "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Clears an input by a fill before the kernel runs.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
