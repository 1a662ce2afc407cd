/*@winnow
{
  "let": {
    "keys": "min(h, 2 * radius + 1) * min(w, 2 * radius + 1)",
    "columns": "ceil_div(d, 32)",
    "vec": "d % 8 == 0 ? 8 : 1"
  },
  "launches": [
    { "kernel": "attention<{columns}, {vec}>",
      "grid": ["ceil_div(w, 8)", "ceil_div(h, 4)", "planes"], "block": [32, 8],
      "shared_bytes": "4 * 8 * (keys + d)",
      "args": ["q", "k", "v", "out", "radius", { "float": "scale / sqrt(d)" }, "h", "w", "d"] }
  ]
}
@*/
// A block has 4 x 8 queries, whose windows overlap in caches. A warp takes one query after the
// other: a lane computes the scores of every 32nd key, by loads of 16 bytes if heads are aligned;
// then the lanes share the columns of the head.
#include <cuda_fp16.h>

template <int VEC> struct alignas(2 * VEC) Pack { __half lane[VEC]; };

__device__ float warp_max(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset, 32));
  }
  return value;
}

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, offset, 32);
  }
  return value;
}

template <int COLUMNS, int VEC>
__global__ void attention(const __half* __restrict__ q, const __half* __restrict__ k,
                          const __half* __restrict__ v, __half* __restrict__ out, int radius,
                          float scale, int h, int w, int d) {
  extern __shared__ float shared[];
  const int lane = threadIdx.x, x = blockIdx.x * 8 + threadIdx.y;
  if (x >= w) {
    return;
  }
  const int rows = min(h, 2 * radius + 1), columns = min(w, 2 * radius + 1);
  const int keys = rows * columns, left = max(0, min(x - radius, w - columns));
  float* query = shared + threadIdx.y * (keys + d);
  float* weights = query + d;
  const size_t plane = (size_t)blockIdx.z * h * w;
  for (int y = blockIdx.y * 4; y < min(h, (int)blockIdx.y * 4 + 4); ++y) {
    const size_t first = plane + (size_t)max(0, min(y - radius, h - rows)) * w + left;
    const size_t at = (plane + (size_t)y * w + x) * d;
    for (int c = lane; c < d; c += 32) {
      query[c] = scale * __half2float(q[at + c]);
    }
    __syncwarp();
    float largest = -INFINITY, total = 0.0f;
    for (int i = lane; i < keys; i += 32) {
      const size_t key = first + (size_t)(i / columns) * w + i % columns;
      const Pack<VEC>* packs = reinterpret_cast<const Pack<VEC>*>(k + key * d);
      float score = 0.0f;
      for (int c = 0; c < d / VEC; ++c) {
        const Pack<VEC> pack = packs[c];
        for (int e = 0; e < VEC; ++e) {
          score += query[c * VEC + e] * __half2float(pack.lane[e]);
        }
      }
      weights[i] = score;
      largest = fmaxf(largest, score);
    }
    largest = warp_max(largest);
    for (int i = lane; i < keys; i += 32) {
      weights[i] = expf(weights[i] - largest);
      total += weights[i];
    }
    total = warp_sum(total);
    __syncwarp();
    float sums[COLUMNS] = {};
    for (int i = 0; i < keys; ++i) {
      const size_t key = first + (size_t)(i / columns) * w + i % columns;
      for (int c = 0; c < COLUMNS; ++c) {
        const int column = lane + 32 * c;
        sums[c] += column < d ? weights[i] * __half2float(v[key * d + column]) : 0.0f;
      }
    }
    for (int c = 0; c < COLUMNS; ++c) {
      if (lane + 32 * c < d) {
        out[at + lane + 32 * c] = __float2half(sums[c] / total);
      }
    }
    __syncwarp();
  }
}
