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
          "grid": ["ceil_div(w, 32)", "h"],
          "block": [32],
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
// One point a thread, from caches only; each neighbour is divided by four before the sum.
extern "C" __global__ void jacobi(const float* __restrict__ u, const float* __restrict__ b,
                                  float* __restrict__ next, int h, int w) {
  const int i = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
  if (j >= w) {
    return;
  }
  const size_t at = (size_t)i * w + j;
  float sum = 0.25f * b[at];
  sum = i > 0 ? fmaf(0.25f, u[at - w], sum) : sum;
  sum = j > 0 ? fmaf(0.25f, u[at - 1], sum) : sum;
  sum = j + 1 < w ? fmaf(0.25f, u[at + 1], sum) : sum;
  next[at] = i + 1 < h ? fmaf(0.25f, u[at + w], sum) : sum;
}
