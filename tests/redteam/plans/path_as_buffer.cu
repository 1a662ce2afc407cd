/*@winnow
{ "scratch": { "../../tmp/forged": { "dtype": "f32", "count": "n" } }, "launches": [ { "fill":
    "../../tmp/forged", "value": 1 }, { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block":
    [256], "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Names a file where a buffer is expected.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
