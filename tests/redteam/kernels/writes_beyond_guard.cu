/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// Strides over the guard zone and hopes to land in another buffer, where nothing looks wrong.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
  if (i == 0) {
    for (int megabyte = 1; megabyte <= 8; ++megabyte) {
      z[n + megabyte * 262144] = 1.0f;
    }
  }
}
