/*@winnow
{
  "params": { "BX": [32, 16], "BY": [8, 16] },
  "launches": [
    { "kernel": "stencil<{BX}, {BY}>", "grid": ["ceil_div(w, BX)", "ceil_div(h, BY)"],
      "block": ["BX", "BY"], "args": ["in", "out", "center", "side", "h", "w"] }
  ]
}
@*/
// A tile with its halo in shared memory, loaded once by the whole block.
template <int BX, int BY>
__global__ void stencil(const float* __restrict__ in, float* __restrict__ out, float center,
                        float side, int h, int w) {
  __shared__ float tile[BY + 2][BX + 2];
  const int left = blockIdx.x * BX - 1, top = blockIdx.y * BY - 1;
  for (int i = threadIdx.y * BX + threadIdx.x; i < (BX + 2) * (BY + 2); i += BX * BY) {
    const int row = top + i / (BX + 2), column = left + i % (BX + 2);
    const bool inside = row >= 0 && row < h && column >= 0 && column < w;
    tile[i / (BX + 2)][i % (BX + 2)] = inside ? in[row * w + column] : 0.0f;
  }
  __syncthreads();
  const int row = blockIdx.y * BY + threadIdx.y, column = blockIdx.x * BX + threadIdx.x;
  if (row < h && column < w) {
    const int y = threadIdx.y + 1, x = threadIdx.x + 1;
    const float around = tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
    out[row * w + column] = center * tile[y][x] + side * around;
  }
}
