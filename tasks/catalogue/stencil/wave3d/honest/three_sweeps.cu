/*@winnow
{
  "launches": [
    { "kernel": "start", "grid": ["ceil_div(nz * ny * nx, 128)"], "block": [128],
      "args": ["now", "before", "next", "nz * ny * nx"] },
    { "repeat": 3, "as": "axis",
      "let": { "length": "axis == 0 ? nx : axis == 1 ? ny : nz",
               "stride": "axis == 0 ? 1 : axis == 1 ? nx : ny * nx" },
      "do": [ { "kernel": "add_axis", "grid": ["ceil_div(nz * ny * nx, 128)"], "block": [128],
                "args": ["now", "courant", "next", "length", "stride", "nz * ny * nx"] } ] }
  ]
}
@*/
// A kernel for each axis adds its second derivative to the result: the terms of a point in three
// parts.
__constant__ float weights[5] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560};

extern "C" __global__ void start(const float* __restrict__ now, const float* __restrict__ before,
                                 float* __restrict__ next, long long count) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at < count) {
    next[at] = 2.0f * now[at] - before[at];
  }
}

extern "C" __global__ void add_axis(const float* __restrict__ now,
                                    const float* __restrict__ courant, float* next, int length,
                                    long long stride, long long count) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const int position = at / stride % length;
  float sum = weights[0] * now[at];
  for (int d = 1; d <= 4; ++d) {
    sum += weights[d] * (position >= d ? now[at - d * stride] : 0.0f);
    sum += weights[d] * (position + d < length ? now[at + d * stride] : 0.0f);
  }
  next[at] += courant[at] * sum;
}
