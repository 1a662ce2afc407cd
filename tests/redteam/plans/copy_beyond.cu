/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["x",
    "y", "z", "alpha", "n"] }, { "copy": {"tensor": "x", "at": 0}, "to": {"tensor": "z", "at": 1},
    "count": "n" } ] }
@*/
// Copies a range that ends in the next buffer.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
