/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Ends its threads with inline PTX before they do any work, as if the launch had succeeded.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("exit;");
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
