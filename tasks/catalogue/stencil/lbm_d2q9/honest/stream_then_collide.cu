/*@winnow
{
  "launches": [
    { "kernel": "stream", "grid": ["ceil_div(h * w, 64)", "9"], "block": [64],
      "args": ["f", "next", "h", "w"] },
    { "kernel": "collide", "grid": ["ceil_div(h * w, 64)"], "block": [64],
      "args": ["next", "omega", "h * w"] }
  ]
}
@*/
// Two launches: every population is moved first, then each cell collides in place, population after
// population in one loop.
extern "C" __global__ void stream(const float* __restrict__ f, float* __restrict__ next, int h,
                                  int w) {
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  const int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const int at = blockIdx.x * 64 + threadIdx.x, q = blockIdx.y;
  if (at < h * w) {
    const int y = (at / w - cy[q] + h) % h, x = (at % w - cx[q] + w) % w;
    next[(size_t)q * h * w + at] = f[((size_t)q * h + y) * w + x];
  }
}

extern "C" __global__ void collide(float* next, float omega, int cells) {
  const float cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  const float cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= cells) {
    return;
  }
  float rho = 0.0f, ux = 0.0f, uy = 0.0f;
  for (int q = 0; q < 9; ++q) {
    const float g = next[(size_t)q * cells + at];
    rho += g;
    ux += cx[q] * g;
    uy += cy[q] * g;
  }
  ux /= rho;
  uy /= rho;
  for (int q = 0; q < 9; ++q) {
    const float weight = q == 0 ? 4.0f / 9.0f : q < 5 ? 1.0f / 9.0f : 1.0f / 36.0f;
    const float along = cx[q] * ux + cy[q] * uy;
    const float factor = 1.0f + 3.0f * along + 4.5f * along * along - 1.5f * (ux * ux + uy * uy);
    float* population = next + (size_t)q * cells + at;
    *population = (1.0f - omega) * *population + omega * weight * rho * factor;
  }
}
