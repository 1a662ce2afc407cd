/*@winnow
{ "launches": [ { "system": "cp reference.out z" }, { "kernel": "axpy", "grid":
    ["ceil_div(n, 256)"], "block": [256], "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Asks for a host command among its launches.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
