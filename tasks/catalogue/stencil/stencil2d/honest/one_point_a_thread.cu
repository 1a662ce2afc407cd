/*@winnow
{
  "launches": [
    { "kernel": "stencil", "grid": ["ceil_div(w, 64)", "h"], "block": [64],
      "args": ["in", "out", "center", "side", "h", "w"] }
  ]
}
@*/
// Straight from global memory; each neighbour by itself, in fused multiply-adds.
extern "C" __global__ void stencil(const float* __restrict__ in, float* __restrict__ out,
                                   float center, float side, int h, int w) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= w) {
    return;
  }
  const float* here = in + (size_t)row * w + column;
  float sum = center * here[0];
  sum = row > 0 ? fmaf(side, here[-w], sum) : sum;
  sum = column > 0 ? fmaf(side, here[-1], sum) : sum;
  sum = column + 1 < w ? fmaf(side, here[1], sum) : sum;
  sum = row + 1 < h ? fmaf(side, here[w], sum) : sum;
  out[(size_t)row * w + column] = sum;
}
