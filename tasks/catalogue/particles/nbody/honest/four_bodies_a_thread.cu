/*@winnow
{
  "let": {
    "blocks": "ceil_div(targets, 512)",
    "wanted": "min(ceil_div(16 * sm_count, blocks), ceil_div(sources, 256))",
    "length": "align_up(ceil_div(sources, wanted), 256)",
    "parts": "ceil_div(sources, length)"
  },
  "scratch": { "partial": { "dtype": "f32", "count": "parts * targets * 3" } },
  "launches": [
    { "kernel": "attract4", "grid": ["blocks", "parts"], "block": [128],
      "args": ["active", "source", "mass", "partial", "softening", "targets", "sources", "length"]
}, { "kernel": "add_parts", "grid": ["ceil_div(3 * targets, 128)"], "block": [128], "args":
["partial", "acceleration", "3 * targets", "parts"] }
  ]
}
@*/
// Four bodies a thread, and sources in shared memory.
__device__ inline float root_of(float square) {
#ifdef __CUDACC_RTC__
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(square));
  return root;
#else
  return rsqrtf(square);
#endif
}

extern "C" __global__ void __launch_bounds__(128)
    attract4(const float* __restrict__ active, const float* __restrict__ source,
             const float* __restrict__ mass, float* __restrict__ partial, float softening,
             int targets, int sources, int length) {
  __shared__ float4 place[256];
  const int base = blockIdx.x * 512 + threadIdx.x;
  float x[4], y[4], z[4], sx[4] = {}, sy[4] = {}, sz[4] = {};
  for (int r = 0; r < 4; ++r) {
    const int t = min(base + 128 * r, targets - 1);
    x[r] = active[3 * t];
    y[r] = active[3 * t + 1];
    z[r] = active[3 * t + 2];
  }
  const int begin = blockIdx.y * length, end = min(begin + length, sources);
  for (int first = begin; first < end; first += 256) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      const int j = first + i;
      place[i] = j < end ? make_float4(source[3 * j], source[3 * j + 1], source[3 * j + 2], mass[j])
                         : make_float4(0, 0, 0, 0);
    }
    __syncthreads();
#pragma unroll 8
    for (int i = 0; i < 256; ++i) {
      const float4 s = place[i];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float dx = s.x - x[r], dy = s.y - y[r], dz = s.z - z[r];
        const float root = root_of(dx * dx + (dy * dy + (dz * dz + softening)));
        const float factor = s.w * root * (root * root);
        sx[r] += factor * dx;
        sy[r] += factor * dy;
        sz[r] += factor * dz;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    const int t = base + 128 * r;
    if (t < targets) {
      float* mine = partial + ((size_t)blockIdx.y * targets + t) * 3;
      mine[0] = sx[r];
      mine[1] = sy[r];
      mine[2] = sz[r];
    }
  }
}

__global__ void add_parts(const float* __restrict__ partial, float* __restrict__ acceleration,
                          int count, int parts) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at < count) {
    float sum = 0.0f;
    for (int part = 0; part < parts; ++part) {
      sum += partial[(size_t)part * count + at];
    }
    acceleration[at] = sum;
  }
}
