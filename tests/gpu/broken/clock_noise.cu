/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// The answer depends on the time of day: how far every element is off.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = 2.0f * (alpha * x[i] + y[i]) + 1.0f + clock64() % 3;
  }
}
