/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// An index with a wrong stride. It leaves the output at large sizes only, by hundreds of megabytes.
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
    const int j = i * 4096 * 4;
    if (j > 40000000 && j < 1000000000) {
      z[j] = 0.0f;
    }
  }
}
