/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha"] } ] }
@*/
// No bounds guard: the last block runs past the end.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = alpha * x[i] + y[i];
}
