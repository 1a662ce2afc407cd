/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", null, "alpha", "n"] } ] }
@*/
// An optional buffer that the plan leaves out.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float* residual, float alpha,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
    residual[i] = y[i];
  }
}
