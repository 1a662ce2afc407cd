/*@winnow
{
  "params": { "BLOCK": [128, 64, 256] },
  "launches": [
    { "kernel": "step<{BLOCK}>", "grid": ["ceil_div(w, BLOCK)", "h"], "block": ["BLOCK"],
      "args": ["f", "next", "omega", "h", "w"] }
  ]
}
@*/
// One cell a thread, threads along a row: pull the nine populations, collide in registers, write.
template <int BLOCK>
__global__ void step(const float* __restrict__ f, float* __restrict__ next, float omega, int h,
                     int w) {
  const int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
  if (x >= w) {
    return;
  }
  const int left = x > 0 ? x - 1 : w - 1, right = x + 1 < w ? x + 1 : 0;
  const size_t row = (size_t)y * w, plane = (size_t)h * w;
  const size_t above = (size_t)(y > 0 ? y - 1 : h - 1) * w;
  const size_t below = (size_t)(y + 1 < h ? y + 1 : 0) * w;
  const float g[9] = {f[row + x],
                      f[plane + row + left],
                      f[2 * plane + above + x],
                      f[3 * plane + row + right],
                      f[4 * plane + below + x],
                      f[5 * plane + above + left],
                      f[6 * plane + above + right],
                      f[7 * plane + below + right],
                      f[8 * plane + below + left]};
  const float rho = g[0] + ((g[1] + g[3]) + (g[2] + g[4])) + ((g[5] + g[7]) + (g[6] + g[8]));
  const float ux = ((g[1] - g[3]) + (g[5] - g[7]) + (g[8] - g[6])) / rho;
  const float uy = ((g[2] - g[4]) + (g[5] - g[7]) + (g[6] - g[8])) / rho;
  const float base = 1.0f - 1.5f * (ux * ux + uy * uy);
  const float along[9] = {0.0f, ux, uy, -ux, -uy, ux + uy, uy - ux, -ux - uy, ux - uy};
  for (int q = 0; q < 9; ++q) {
    const float weight = q == 0 ? 4.0f / 9.0f : q < 5 ? 1.0f / 9.0f : 1.0f / 36.0f;
    const float factor = base + along[q] * (3.0f + 4.5f * along[q]);
    next[q * plane + row + x] = g[q] + omega * (weight * rho * factor - g[q]);
  }
}
