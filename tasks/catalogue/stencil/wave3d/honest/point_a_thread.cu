/*@winnow
{ "launches": [ { "kernel": "wave", "grid": ["ceil_div(nx, 32)", "ny", "nz"], "block": [32],
                  "args": ["now", "before", "courant", "next", "nz", "ny", "nx"] } ] }
@*/
// One point a thread, from caches only; neighbours from the farthest to the nearest.
__constant__ float weights[5] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560};

extern "C" __global__ void wave(const float* __restrict__ now, const float* __restrict__ before,
                                const float* __restrict__ courant, float* __restrict__ next, int nz,
                                int ny, int nx) {
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y, k = blockIdx.z;
  if (i >= nx) {
    return;
  }
  const size_t plane = (size_t)ny * nx, at = k * plane + (size_t)j * nx + i;
  float sum = 0.0f;
  for (int d = 4; d >= 1; --d) {
    float around = 0.0f;
    around += i >= d ? now[at - d] : 0.0f;
    around += i + d < nx ? now[at + d] : 0.0f;
    around += j >= d ? now[at - (size_t)d * nx] : 0.0f;
    around += j + d < ny ? now[at + (size_t)d * nx] : 0.0f;
    around += k >= d ? now[at - d * plane] : 0.0f;
    around += k + d < nz ? now[at + d * plane] : 0.0f;
    sum = fmaf(weights[d], around, sum);
  }
  sum = fmaf(3.0f * weights[0], now[at], sum);
  next[at] = fmaf(courant[at], sum, fmaf(2.0f, now[at], -before[at]));
}
