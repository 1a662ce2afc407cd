/*@winnow
{
  "params": { "BY": [8, 4, 16] },
  "launches": [
    { "kernel": "wave<{BY}>", "grid": ["ceil_div(nx, 32)", "ceil_div(ny, BY)", "ceil_div(nz, 32)"],
      "block": [32, "BY"],
      "args": ["now", "before", "courant", "next", "nz", "ny", "nx"] }
  ]
}
@*/
// A block walks through 32 planes: the column along z in registers, the plane with its halo in
// shared memory.
__constant__ float weights[5] = {-205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560};

__device__ float value_at(const float* now, int k, int j, int i, int nz, int ny, int nx) {
  const bool inside = k >= 0 && k < nz && j >= 0 && j < ny && i >= 0 && i < nx;
  return inside ? now[((size_t)k * ny + j) * nx + i] : 0.0f;
}

template <int BY>
__global__ void wave(const float* __restrict__ now, const float* __restrict__ before,
                     const float* __restrict__ courant, float* __restrict__ next, int nz, int ny,
                     int nx) {
  __shared__ float plane[BY + 8][32 + 8];
  const int left = blockIdx.x * 32, top = blockIdx.y * BY;
  const int i = left + threadIdx.x, j = top + threadIdx.y;
  const int first = blockIdx.z * 32, last = min(first + 32, nz);
  float column[9];
  for (int d = 1; d < 9; ++d) {
    column[d] = value_at(now, first + d - 5, j, i, nz, ny, nx);
  }
  for (int k = first; k < last; ++k) {
#pragma unroll
    for (int d = 0; d < 8; ++d) {
      column[d] = column[d + 1];
    }
    column[8] = value_at(now, k + 4, j, i, nz, ny, nx);
    __syncthreads();
    for (int t = threadIdx.y * 32 + threadIdx.x; t < (BY + 8) * 40; t += 32 * BY) {
      plane[t / 40][t % 40] = value_at(now, k, top + t / 40 - 4, left + t % 40 - 4, nz, ny, nx);
    }
    __syncthreads();
    if (i >= nx || j >= ny) {
      continue;
    }
    float sum = 3.0f * weights[0] * column[4];
#pragma unroll
    for (int d = 1; d <= 4; ++d) {
      const int y = threadIdx.y + 4, x = threadIdx.x + 4;
      sum += weights[d] * (column[4 - d] + column[4 + d] + plane[y - d][x] + plane[y + d][x] +
                           plane[y][x - d] + plane[y][x + d]);
    }
    const size_t at = ((size_t)k * ny + j) * nx + i;
    next[at] = 2.0f * column[4] - before[at] + courant[at] * sum;
  }
}
