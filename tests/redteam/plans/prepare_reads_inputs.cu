/*@winnow
{ "scratch": { "answer": { "dtype": "f32", "count": "n", "keep": true } }, "prepare": [ {
    "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["x", "y", "answer",
    "alpha", "n"] } ], "launches": [ { "copy": "answer", "to": "z" } ] }
@*/
// Computes the answer in prepare, which is not timed, from inputs that change.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
