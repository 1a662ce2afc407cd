/*@winnow
{
  "let": { "parts": "min(ceil_div(sources, 64), 1024)" },
  "launches": [
    { "fill": "acceleration", "value": 0 },
    { "kernel": "attract", "grid": ["ceil_div(targets, 64)", "parts"], "block": [32],
      "args": ["active", "source", "mass", "acceleration", "softening", "targets", "sources"] }
  ]
}
@*/
// Two active bodies a thread; every block has some tiles of 64 sources and adds by atomics.
__device__ void add_pair(const float* at, const float* source, float mass, float softening,
                         float* sums) {
  float d[3], square = softening;
  for (int c = 0; c < 3; ++c) {
    d[c] = source[c] - at[c];
    square += d[c] * d[c];
  }
  const float factor = mass * powf(square, -1.5f);
  for (int c = 0; c < 3; ++c) {
    sums[c] += factor * d[c];
  }
}

extern "C" __global__ void attract(const float* __restrict__ active,
                                   const float* __restrict__ source, const float* __restrict__ mass,
                                   float* acceleration, float softening, int targets, int sources) {
  __shared__ float tile[64 * 3];
  float at[2][3] = {}, sums[2][3] = {};
  for (int two = 0; two < 2; ++two) {
    const int i = blockIdx.x * 64 + two * 32 + threadIdx.x;
    for (int c = 0; c < 3 && i < targets; ++c) {
      at[two][c] = active[3 * i + c];
    }
  }
  for (int first = blockIdx.y * 64; first < sources; first += gridDim.y * 64) {
    const int count = min(64, sources - first);
    for (int t = threadIdx.x; t < 3 * count; t += 32) {
      tile[t] = source[3 * (size_t)first + t];
    }
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      add_pair(at[0], tile + 3 * j, mass[first + j], softening, sums[0]);
      add_pair(at[1], tile + 3 * j, mass[first + j], softening, sums[1]);
    }
    __syncthreads();
  }
  for (int two = 0; two < 2; ++two) {
    const int i = blockIdx.x * 64 + two * 32 + threadIdx.x;
    for (int c = 0; c < 3 && i < targets; ++c) {
      atomicAdd(&acceleration[3 * i + c], sums[two][c]);
    }
  }
}
