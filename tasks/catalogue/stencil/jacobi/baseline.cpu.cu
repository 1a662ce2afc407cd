/*@winnow
{
  "scratch": { "even": { "dtype": "f32", "count": "h * w" },
               "odd": { "dtype": "f32", "count": "h * w" } },
  "launches": [
    {
      "repeat": "steps",
      "as": "t",
      "let": { "from": "t == 0 ? 0 : t % 2 == 1 ? 1 : 2", "to": "t == steps - 1 ? 2 : t % 2" },
      "do": [
        {
          "kernel": "jacobi",
          "grid": ["ceil_div(h, 16)"],
          "block": [1],
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
// A launch a step; two grids take turns. A block is one thread with sixteen rows. The inner columns
// of a row need no test, so the compiler computes eight of them at a time.
__device__ float at(const float* u, int i, int j, int h, int w) {
  return i >= 0 && i < h && j >= 0 && j < w ? u[(size_t)i * w + j] : 0.0f;
}

extern "C" __global__ void jacobi(const float* __restrict__ u, const float* __restrict__ b,
                                  float* __restrict__ next, int h, int w) {
  for (int i = blockIdx.x * 16; i < min((int)(blockIdx.x + 1) * 16, h); ++i) {
    const float *own = u + (size_t)i * w, *above = own - w, *below = own + w;
    const float* term = b + (size_t)i * w;
    float* out = next + (size_t)i * w;
    const bool is_inner = i > 0 && i < h - 1;
    for (int j = 0; j < w; j += is_inner && j == 0 && w > 1 ? w - 1 : 1) {
      out[j] = 0.25f * (at(u, i - 1, j, h, w) + at(u, i + 1, j, h, w) + at(u, i, j - 1, h, w) +
                        at(u, i, j + 1, h, w) + term[j]);
    }
    for (int j = 1; is_inner && j < w - 1; ++j) {
      out[j] = 0.25f * (above[j] + below[j] + own[j - 1] + own[j + 1] + term[j]);
    }
  }
}
