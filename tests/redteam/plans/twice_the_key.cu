/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["x",
    "y", "z", "alpha", "n"] } ], "launches": [ { "fill": "z", "value": 0 } ] }
@*/
// States the launches twice: a reader may take the first and the runner the last.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
