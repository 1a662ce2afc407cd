/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// The stride is zero.
extern "C" __global__ void axpy(const float* x, const float* y, volatile float* z, float alpha, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 0) {
    z[i] = alpha * x[i] + y[i];
  }
}
