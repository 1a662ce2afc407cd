/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args":
    [{"tensor": "x", "at": "0 - 64"}, "y", "z", "alpha", "n"] } ] }
@*/
// Points before the start of a buffer, at the guard zone and the memory beyond.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
