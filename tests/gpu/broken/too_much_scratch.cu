/*@winnow
{ "scratch": { "copies": { "dtype": "f32", "count": "n * (1 << 40)" } },
  "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "copies", "alpha", "n"] } ] }
@*/
// Four terabytes an element.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float* copies, float alpha,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    copies[i] = y[i];
    z[i] = alpha * x[i] + copies[i];
  }
}
