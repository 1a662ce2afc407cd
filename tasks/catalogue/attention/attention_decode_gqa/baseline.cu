/*@winnow
{
  "params": { "BLOCKS_PER_SM": [8, 4, 16] },
  "let": {
    "heads": "batch * kv_heads",
    "rows": "heads * group",
    "vec": "d % 8 == 0 ? 8 : 1",
    "columns": "ceil_div(d, 128)",
    "wanted": "ceil_div(BLOCKS_PER_SM * sm_count, heads)",
    "length": "align_up(ceil_div(s, min(wanted, ceil_div(s, 32))), 32)",
    "parts": "ceil_div(s, length)"
  },
  "scratch": { "partial": { "dtype": "f32", "count": "parts * rows * (d + 2)" } },
  "launches": [
    { "kernel": "attend<{group}, {columns}, {vec}>", "grid": ["heads", "parts"], "block": [128],
      "shared_bytes": "4 * ((group + 32) * (d + 1) + group * 36)",
      "args": ["q", "k", "v", "partial", { "float": "scale / sqrt(d)" }, "s", "d", "length"] },
    { "kernel": "merge", "grid": ["ceil_div(rows * d, 128)"], "block": [128],
      "args": ["partial", "out", "rows", "d", "parts"] }
  ]
}
@*/
// The keys of a head are split over blocks. A block has all queries of the group and walks over
// tiles of 32 keys with running maxima and sums; keys and values take turns in one tile of shared
// memory, which is filled by loads of 16 bytes if the rows are aligned. A second kernel merges.
#include <cuda_bf16.h>

template <int VEC> struct alignas(2 * VEC) Pack { __nv_bfloat16 lane[VEC]; };

template <int VEC>
__device__ void load_rows(const __nv_bfloat16* rows, float* tile, int count, int d, int pitch) {
  const Pack<VEC>* packs = reinterpret_cast<const Pack<VEC>*>(rows);
#pragma unroll 2
  for (int i = threadIdx.x; i < count * d / VEC; i += 128) {
    const Pack<VEC> pack = packs[i];
    const int row = i * VEC / d, c = i * VEC % d;
    for (int lane = 0; lane < VEC; ++lane) {
      tile[row * pitch + c + lane] = __bfloat162float(pack.lane[lane]);
    }
  }
}

template <int GROUP, int COLUMNS, int VEC>
__global__ void attend(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ k,
                       const __nv_bfloat16* __restrict__ v, float* __restrict__ partial,
                       float scale, int s, int d, int length) {
  extern __shared__ float shared[];
  const int pitch = d | 1; // odd: the rows of a tile begin in different banks
  float* queries = shared;
  float* tile = queries + GROUP * pitch;
  float* weights = tile + 32 * pitch;
  float* largest = weights + GROUP * 33;
  float* total = largest + GROUP;
  float* shrink = total + GROUP;
  const size_t head = blockIdx.x;
  const int begin = blockIdx.y * length, end = min(begin + length, s);
  const int thread = threadIdx.x;
  float sums[GROUP][COLUMNS] = {};
  load_rows<VEC>(q + head * GROUP * d, queries, GROUP, d, pitch);
  if (thread < GROUP) {
    largest[thread] = -INFINITY;
    total[thread] = 0.0f;
  }
  for (int first = begin; first < end; first += 32) {
    const int keys = min(32, end - first);
    load_rows<VEC>(k + (head * s + first) * d, tile, keys, d, pitch);
    __syncthreads();
    for (int i = thread; i < GROUP * 32; i += 128) {
      const int g = i / 32, j = i % 32;
      float dot = 0.0f;
      if (j < keys) {
#pragma unroll 4
        for (int c = 0; c < d; ++c) {
          dot += queries[g * pitch + c] * tile[j * pitch + c];
        }
      }
      weights[g * 33 + j] = j < keys ? scale * dot : -INFINITY;
    }
    __syncthreads();
    load_rows<VEC>(v + (head * s + first) * d, tile, keys, d, pitch);
    if (thread < GROUP) {
      float* row = weights + thread * 33;
      float maximum = largest[thread], sum = 0.0f;
#pragma unroll 4
      for (int j = 0; j < 32; ++j) {
        maximum = fmaxf(maximum, row[j]);
      }
#pragma unroll 4
      for (int j = 0; j < 32; ++j) {
        row[j] = expf(row[j] - maximum);
        sum += row[j];
      }
      shrink[thread] = expf(largest[thread] - maximum);
      total[thread] = total[thread] * shrink[thread] + sum;
      largest[thread] = maximum;
    }
    __syncthreads();
    for (int c = 0; c < COLUMNS; ++c) {
      const int column = thread + 128 * c;
      if (column < d) {
        for (int g = 0; g < GROUP; ++g) {
          sums[g][c] *= shrink[g];
        }
#pragma unroll 2
        for (int j = 0; j < keys; ++j) {
          const float value = tile[j * pitch + column];
          for (int g = 0; g < GROUP; ++g) {
            sums[g][c] += weights[g * 33 + j] * value;
          }
        }
      }
    }
    __syncthreads();
  }
  const size_t rows = (size_t)gridDim.x * GROUP;
  for (int g = 0; g < GROUP; ++g) {
    float* mine = partial + (blockIdx.y * rows + head * GROUP + g) * (d + 2);
    if (thread == 0) {
      mine[0] = largest[g];
      mine[1] = total[g];
    }
    for (int c = 0; c < COLUMNS; ++c) {
      if (thread + 128 * c < d) {
        mine[2 + thread + 128 * c] = sums[g][c];
      }
    }
  }
}

__global__ void merge(const float* __restrict__ partial, __nv_bfloat16* __restrict__ out,
                      long long rows, int d, int parts) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= rows * d) {
    return;
  }
  const long long row = at / d, pitch = d + 2;
  float largest = -INFINITY, total = 0.0f, sum = 0.0f;
  for (int part = 0; part < parts; ++part) {
    largest = fmaxf(largest, partial[(part * rows + row) * pitch]);
  }
  for (int part = 0; part < parts; ++part) {
    const float* mine = partial + (part * rows + row) * pitch;
    const float weight = expf(mine[0] - largest);
    total += weight * mine[1];
    sum += weight * mine[2 + at % d];
  }
  out[at] = __float2bfloat16(sum / total);
}
