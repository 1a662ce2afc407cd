/*@winnow
{
  "params": { "BX": [32, 64], "BY": [8, 4] },
  "scratch": { "even": { "dtype": "f32", "count": "h * w" },
               "odd": { "dtype": "f32", "count": "h * w" } },
  "launches": [
    {
      "repeat": "steps",
      "as": "t",
      "let": { "from": "t == 0 ? 0 : t % 2 == 1 ? 1 : 2", "to": "t == steps - 1 ? 2 : t % 2" },
      "do": [
        {
          "kernel": "jacobi<{BX}, {BY}>",
          "grid": ["ceil_div(w, BX)", "ceil_div(h, BY)"],
          "block": ["BX", "BY"],
          "args": [
            { "pick": ["start", "even", "odd"], "by": "from" },
            "b",
            { "pick": ["even", "odd", "out"], "by": "to" },
            "h",
            "w"
          ]
        }
      ]
    }
  ]
}
@*/
// A launch a step: a tile with its halo in shared memory; two grids take turns.
template <int BX, int BY>
__global__ void jacobi(const float* __restrict__ u, const float* __restrict__ b,
                       float* __restrict__ next, int h, int w) {
  __shared__ float tile[BY + 2][BX + 2];
  const int left = blockIdx.x * BX - 1, top = blockIdx.y * BY - 1;
  for (int t = threadIdx.y * BX + threadIdx.x; t < (BX + 2) * (BY + 2); t += BX * BY) {
    const int i = top + t / (BX + 2), j = left + t % (BX + 2);
    const bool inside = i >= 0 && i < h && j >= 0 && j < w;
    tile[t / (BX + 2)][t % (BX + 2)] = inside ? u[(size_t)i * w + j] : 0.0f;
  }
  __syncthreads();
  const int i = blockIdx.y * BY + threadIdx.y, j = blockIdx.x * BX + threadIdx.x;
  if (i < h && j < w) {
    const int y = threadIdx.y + 1, x = threadIdx.x + 1;
    const float around = tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
    next[(size_t)i * w + j] = 0.25f * (around + b[(size_t)i * w + j]);
  }
}
