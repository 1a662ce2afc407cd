/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 64)"], "block": [64],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Off by one: element n is written too.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i + 1] = alpha * x[i] + y[i];
    z[i] = alpha * x[i] + y[i];
  }
}
