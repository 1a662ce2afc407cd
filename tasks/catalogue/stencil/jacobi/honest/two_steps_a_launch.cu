/*@winnow
{
  "let": { "pairs": "steps / 2", "launches": "ceil_div(steps, 2)" },
  "scratch": { "even": { "dtype": "f32", "count": "h * w" },
               "odd": { "dtype": "f32", "count": "h * w" } },
  "launches": [
    {
      "repeat": "launches",
      "as": "t",
      "let": { "from": "t == 0 ? 0 : t % 2 == 1 ? 1 : 2", "to": "t == launches - 1 ? 2 : t % 2" },
      "do": [
        {
          "kernel": "jacobi",
          "grid": ["ceil_div(w, 30)", "ceil_div(h, 14)"],
          "block": [32, 4],
          "args": [
            { "pick": ["start", "even", "odd"], "by": "from" },
            "b",
            { "pick": ["even", "odd", "out"], "by": "to" },
            "h",
            "w",
            "t < pairs"
          ]
        }
      ]
    }
  ]
}
@*/
// Temporal blocking: a tile of 14 x 30 points makes two steps in shared memory; an odd last step
// alone.
extern "C" __global__ void jacobi(const float* __restrict__ u, const float* __restrict__ b,
                                  float* __restrict__ next, int h, int w, bool is_pair) {
  __shared__ float tile[18][34];
  __shared__ float middle[16][32];
  const int left = blockIdx.x * 30, top = blockIdx.y * 14;
  const int thread = threadIdx.y * 32 + threadIdx.x;
  for (int t = thread; t < 18 * 34; t += 128) {
    const int i = top + t / 34 - 2, j = left + t % 34 - 2;
    tile[t / 34][t % 34] = i >= 0 && i < h && j >= 0 && j < w ? u[(size_t)i * w + j] : 0.0f;
  }
  __syncthreads();
  for (int t = thread; t < 16 * 32; t += 128) {
    const int y = t / 32, x = t % 32, i = top + y - 1, j = left + x - 1;
    const float around = tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2];
    const bool inside = i >= 0 && i < h && j >= 0 && j < w;
    middle[y][x] = inside ? 0.25f * (around + b[(size_t)i * w + j]) : 0.0f;
  }
  __syncthreads();
  for (int t = thread; t < 14 * 30; t += 128) {
    const int y = t / 30 + 1, x = t % 30 + 1, i = top + y - 1, j = left + x - 1;
    if (i < h && j < w) {
      const float around =
          middle[y - 1][x] + middle[y + 1][x] + middle[y][x - 1] + middle[y][x + 1];
      const float twice = 0.25f * (around + b[(size_t)i * w + j]);
      next[(size_t)i * w + j] = is_pair ? twice : middle[y][x];
    }
  }
}
