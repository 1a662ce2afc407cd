/*@winnow
{ "launches": [ { "kernel": "step", "grid": ["ceil_div(w, 30)", "ceil_div(h, 6)"],
                  "block": [32, 4], "args": ["f", "next", "omega", "h", "w"] } ] }
@*/
// A block loads 8 x 32 cells of each population into shared memory, moves the populations there and
// collides its inner 6 x 30 cells.
extern "C" __global__ void step(const float* __restrict__ f, float* __restrict__ next, float omega,
                                int h, int w) {
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  __shared__ float moved[9][8][32];
  const int thread = threadIdx.y * 32 + threadIdx.x;
  const int left = blockIdx.x * 30, top = blockIdx.y * 6;
  for (int i = thread; i < 9 * 256; i += 128) {
    const int q = i / 256, row = i / 32 % 8, column = i % 32;
    const int to_row = row + cy[q], to_column = column + cx[q];
    if (to_row >= 0 && to_row < 8 && to_column >= 0 && to_column < 32) {
      const int y = (top + row - 1 + h) % h, x = (left + column - 1 + w) % w;
      moved[q][to_row][to_column] = f[((size_t)q * h + y) * w + x];
    }
  }
  __syncthreads();
  for (int i = thread; i < 6 * 30; i += 128) {
    const int row = i / 30 + 1, column = i % 30 + 1;
    const int y = top + row - 1, x = left + column - 1;
    if (y >= h || x >= w) {
      continue;
    }
    float rho = 0.0f, jx = 0.0f, jy = 0.0f;
    for (int q = 8; q >= 0; --q) {
      const float g = moved[q][row][column];
      rho += g;
      jx = fmaf((float)cx[q], g, jx);
      jy = fmaf((float)cy[q], g, jy);
    }
    const float inverse = 1.0f / rho, ux = jx * inverse, uy = jy * inverse;
    for (int q = 0; q < 9; ++q) {
      const float weight = q == 0 ? 4.0f / 9.0f : q < 5 ? 1.0f / 9.0f : 1.0f / 36.0f;
      const float along = 3.0f * (cx[q] * ux + cy[q] * uy), g = moved[q][row][column];
      const float factor = 1.0f + along + 0.5f * along * along - 1.5f * fmaf(ux, ux, uy * uy);
      next[((size_t)q * h + y) * w + x] = g + omega * (weight * rho * factor - g);
    }
  }
}
