/*@winnow
{
  "launches": [
    { "kernel": "attract", "grid": ["ceil_div(targets, 8)"], "block": [1],
      "args": ["active", "source", "mass", "acceleration", "softening", "targets", "sources"] }
  ]
}
@*/
// A block is one thread with eight active bodies, one in each lane of a vector register.
extern "C" __global__ void attract(const float* __restrict__ active,
                                   const float* __restrict__ source, const float* __restrict__ mass,
                                   float* __restrict__ acceleration, float softening, int targets,
                                   int sources) {
  constexpr int kBodies = 8;
  const int first = blockIdx.x * kBodies;
  float at[3][kBodies], sums[3][kBodies] = {};
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < kBodies; ++i) {
      at[axis][i] = active[3 * min(first + i, targets - 1) + axis];
    }
  }
  for (int j = 0; j < sources; ++j) {
    const float x = source[3 * j], y = source[3 * j + 1], z = source[3 * j + 2];
#pragma unroll
    for (int i = 0; i < kBodies; ++i) {
      const float dx = x - at[0][i], dy = y - at[1][i], dz = z - at[2][i];
      const float square = dx * dx + dy * dy + dz * dz + softening;
      const float factor = mass[j] / (square * sqrtf(square));
      sums[0][i] += factor * dx;
      sums[1][i] += factor * dy;
      sums[2][i] += factor * dz;
    }
  }
  for (int i = 0; i < min(kBodies, targets - first); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      acceleration[3 * (first + i) + axis] = sums[axis][i];
    }
  }
}
