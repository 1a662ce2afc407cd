/*@winnow
{ "launches": [ { "kernel": "winnow_fill_guard", "grid": [1], "block": [256], "args": ["z", "n",
    "n"] }, { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["x", "y",
    "z", "alpha", "n"] } ] }
@*/
// Launches a kernel of the harness by its name to overwrite guard zones.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
