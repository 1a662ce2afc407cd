/*@winnow
{
  "launches": [
    { "kernel": "wave", "grid": ["ceil_div(ny, 8)", "nz"], "block": [1],
      "args": ["now", "before", "courant", "next", "nz", "ny", "nx"] }
  ]
}
@*/
// A block is one thread with eight rows of a plane. The neighbours of 64 points along each axis are
// added first, without those beyond the grid; each of these loops fills whole vector registers.
__constant__ float weights[5] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560};

extern "C" __global__ void wave(const float* __restrict__ now, const float* __restrict__ before,
                                const float* __restrict__ courant, float* __restrict__ next, int nz,
                                int ny, int nx) {
  constexpr int kPoints = 64;
  const int k = blockIdx.y, first = blockIdx.x * 8;
  for (int j = first; j < min(first + 8, ny); ++j) {
    for (int left = 0; left < nx; left += kPoints) {
      const int points = min(kPoints, nx - left);
      const auto row = [&](int plane, int line) {
        return now + ((size_t)plane * ny + line) * nx + left;
      };
      const float* own = row(k, j);
      float sums[kPoints];
      for (int i = 0; i < points; ++i) {
        sums[i] = 3.0f * weights[0] * own[i];
      }
      const auto add = [&](float weight, const float* values) {
        for (int i = 0; i < points; ++i) {
          sums[i] += weight * values[i];
        }
      };
      for (int d = 1; d <= 4; ++d) {
        if (k >= d) {
          add(weights[d], row(k - d, j));
        }
        if (k + d < nz) {
          add(weights[d], row(k + d, j));
        }
        if (j >= d) {
          add(weights[d], row(k, j - d));
        }
        if (j + d < ny) {
          add(weights[d], row(k, j + d));
        }
        for (int i = max(0, d - left); i < points; ++i) {
          sums[i] += weights[d] * own[i - d];
        }
        for (int i = 0; i < min(points, nx - d - left); ++i) {
          sums[i] += weights[d] * own[i + d];
        }
      }
      const size_t start = own - now;
      for (int i = 0; i < points; ++i) {
        next[start + i] = 2.0f * own[i] - before[start + i] + courant[start + i] * sums[i];
      }
    }
  }
}
