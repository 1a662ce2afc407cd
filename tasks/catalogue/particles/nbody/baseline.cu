/*@winnow
{
  "params": { "BLOCK": [128, 64, 256] },
  "let": {
    "blocks": "ceil_div(targets, BLOCK)",
    "wanted": "min(ceil_div(8 * sm_count, blocks), ceil_div(sources, BLOCK))",
    "length": "align_up(ceil_div(sources, wanted), BLOCK)",
    "parts": "ceil_div(sources, length)"
  },
  "scratch": { "partial": { "dtype": "f32", "count": "parts * targets * 3" } },
  "launches": [
    { "kernel": "attract<{BLOCK}>", "grid": ["blocks", "parts"], "block": ["BLOCK"],
      "args": ["active", "source", "mass", "partial", "softening", "targets", "sources", "length"]
    },
    { "kernel": "add_parts", "grid": ["ceil_div(3 * targets, 128)"], "block": [128],
      "args": ["partial", "acceleration", "3 * targets", "parts"] }
  ]
}
@*/
// One active body a thread; a tile of sources in shared memory serves the whole block. The sources
// are split until all multiprocessors have work, and a second kernel adds the parts.
template <int BLOCK>
__global__ void attract(const float* __restrict__ active, const float* __restrict__ source,
                        const float* __restrict__ mass, float* __restrict__ partial,
                        float softening, int targets, int sources, int length) {
  __shared__ float4 tile[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int begin = blockIdx.y * length, end = min(begin + length, sources);
  float x = 0.0f, y = 0.0f, z = 0.0f;
  if (i < targets) {
    x = active[3 * i];
    y = active[3 * i + 1];
    z = active[3 * i + 2];
  }
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = begin; first < end; first += BLOCK) {
    const int j = first + threadIdx.x;
    if (j < end) {
      tile[threadIdx.x] = make_float4(source[3 * j], source[3 * j + 1], source[3 * j + 2], mass[j]);
    }
    __syncthreads();
    for (int t = 0; t < min(BLOCK, end - first); ++t) {
      const float4 body = tile[t];
      const float dx = body.x - x, dy = body.y - y, dz = body.z - z;
      const float root = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      const float factor = body.w * root * root * root;
      ax += factor * dx;
      ay += factor * dy;
      az += factor * dz;
    }
    __syncthreads();
  }
  if (i < targets) {
    float* mine = partial + ((size_t)blockIdx.y * targets + i) * 3;
    mine[0] = ax;
    mine[1] = ay;
    mine[2] = az;
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
