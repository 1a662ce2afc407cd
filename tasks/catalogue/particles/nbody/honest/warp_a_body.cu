/*@winnow
{ "launches": [ { "kernel": "attract", "grid": ["ceil_div(targets, 2)"], "block": [32, 2],
                  "args": ["active", "source", "mass", "acceleration", "softening", "targets",
                           "sources"] } ] }
@*/
// One warp an active body: the lanes share the sources and merge by shuffles.
extern "C" __global__ void attract(const float* __restrict__ active,
                                   const float* __restrict__ source, const float* __restrict__ mass,
                                   float* __restrict__ acceleration, float softening, int targets,
                                   int sources) {
  const int i = blockIdx.x * 2 + threadIdx.y;
  if (i >= targets) {
    return;
  }
  const float x = active[3 * i], y = active[3 * i + 1], z = active[3 * i + 2];
  float sums[3] = {};
  for (int j = threadIdx.x; j < sources; j += 32) {
    const float dx = source[3 * j] - x, dy = source[3 * j + 1] - y, dz = source[3 * j + 2] - z;
    const float inverse = 1.0f / sqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening))));
    const float factor = inverse * inverse * (inverse * mass[j]);
    sums[0] += dx * factor;
    sums[1] += dy * factor;
    sums[2] += dz * factor;
  }
  for (int c = 0; c < 3; ++c) {
    for (int offset = 16; offset > 0; offset /= 2) {
      sums[c] += __shfl_down_sync(0xffffffff, sums[c], offset, 32);
    }
    if (threadIdx.x == 0) {
      acceleration[3 * i + c] = sums[c];
    }
  }
}
