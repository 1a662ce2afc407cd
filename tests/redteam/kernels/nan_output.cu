/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// NaN everywhere: equal to anything in a comparison that does not fail on unordered values.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = NAN;
  }
}
