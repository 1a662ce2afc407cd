/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["x",
    "y", {"tensor": "z", "at": "n + 262144"}, "alpha", "n"] } ] }
@*/
// Points beyond the end of a buffer, at its neighbour.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
