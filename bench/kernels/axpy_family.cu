/*@winnow
{
  "params": { "BLOCK": [256, 128, 512, 64, 1024], "WORK": [1, 2, 4, 8], "STRIDED": [1, 0] },
  "launches": [
    { "kernel": "axpy<{WORK}, {STRIDED}>", "grid": ["ceil_div(n, BLOCK * WORK)"],
      "block": ["BLOCK"], "args": ["x", "y", "z", "alpha", "n"] }
  ]
}
@*/
// WORK elements a thread: neighbours of each other, or a block apart.
template <int WORK, int STRIDED>
__global__ void axpy(const float* __restrict__ x, const float* __restrict__ y,
                     float* __restrict__ z, float alpha, int n) {
  const int step = STRIDED ? blockDim.x : 1;
  const int first = blockIdx.x * blockDim.x * WORK + threadIdx.x * (STRIDED ? 1 : WORK);
  for (int k = 0; k < WORK; ++k) {
    const int i = first + k * step;
    if (i < n) {
      z[i] = alpha * x[i] + y[i];
    }
  }
}
