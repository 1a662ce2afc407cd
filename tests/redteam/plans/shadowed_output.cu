/*@winnow
{ "scratch": { "z": { "dtype": "f32", "count": "n" } }, "launches": [ { "kernel": "axpy", "grid":
    ["ceil_div(n, 256)"], "block": [256], "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Declares scratch under the output's name, so that the real one is never touched.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
