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
          "grid": ["ceil_div(w, 64)", "ceil_div(h, 16)"],
          "block": [64],
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
// A thread walks down 16 rows and keeps the rows above and below in registers.
extern "C" __global__ void jacobi(const float* __restrict__ u, const float* __restrict__ b,
                                  float* __restrict__ next, int h, int w) {
  const int j = blockIdx.x * 64 + threadIdx.x, first = blockIdx.y * 16;
  if (j >= w) {
    return;
  }
  float above = first > 0 ? u[(size_t)(first - 1) * w + j] : 0.0f;
  float here = u[(size_t)first * w + j];
  for (int i = first; i < min(first + 16, h); ++i) {
    const size_t at = (size_t)i * w + j;
    const float below = i + 1 < h ? u[at + w] : 0.0f;
    const float beside = (j > 0 ? u[at - 1] : 0.0f) + (j + 1 < w ? u[at + 1] : 0.0f);
    next[at] = ((above + below) + (beside + b[at])) / 4.0f;
    above = here;
    here = below;
  }
}
