/*@winnow
{
  "params": { "BLOCKS_PER_SM": [8, 16] },
  "let": {
    "heads": "batch * kv_heads",
    "rows": "heads * group",
    "columns": "ceil_div(d, 128)",
    "wanted": "ceil_div(BLOCKS_PER_SM * sm_count, heads)",
    "length": "align_up(ceil_div(s, min(wanted, ceil_div(s, 32))), 32)",
    "parts": "ceil_div(s, length)"
  },
  "scratch": { "partial": { "dtype": "f32", "count": "parts * rows * (d + 2)" } },
  "launches": [
    { "kernel": "attend<{group}, {columns}>", "grid": ["heads", "parts"], "block": [128],
      "shared_bytes": "4 * ((group + 32) * (d + 1) + group * 36)",
      "args": ["q", "k_mask", "k_values", "v_mask", "v_values", "partial",
               { "float": "scale / sqrt(d)" }, "s", "d", "room", "length"] },
    { "kernel": "merge", "grid": ["ceil_div(rows * d, 128)"], "block": [128],
      "args": ["partial", "out", "rows", "d", "parts"] }
  ]
}
@*/
// The keys of a head are split over blocks. A block has all queries of the group and walks over
// tiles of 32 keys with running maxima and sums; keys and values take turns in one tile of shared
// memory. A warp unpacks a row: a lane with a stored element counts the bits before it. A second
// kernel merges.
#include <cuda_bf16.h>

__device__ void unpack_rows(const unsigned char* mask, const __nv_bfloat16* values, float* tile,
                            int count, int d, int room, int pitch) {
  const int lane = threadIdx.x % 32;
  for (int row = threadIdx.x / 32; row < count; row += 4) {
    const unsigned char* bytes = mask + (size_t)row * ((d + 7) / 8);
    const __nv_bfloat16* next = values + (size_t)row * room;
    int stored = 0;
    for (int first = 0; first < d; first += 32) {
      const int c = first + lane;
      const bool is_stored = c < d && (bytes[c / 8] >> c % 8 & 1);
      const unsigned word = __ballot_sync(0xffffffff, is_stored);
      const int before = stored + __popc(word & ((1u << lane) - 1));
      if (c < d) {
        tile[row * pitch + c] = is_stored && before < room ? __bfloat162float(next[before]) : 0.0f;
      }
      stored += __popc(word);
    }
  }
}

// Scores of a tile become weights; maxima and sums move on.
template <int GROUP>
__device__ void move_on(float* weights, float* largest, float* total, float* shrink) {
  if (threadIdx.x < GROUP) {
    float* row = weights + threadIdx.x * 33;
    float maximum = largest[threadIdx.x], sum = 0.0f;
    for (int j = 0; j < 32; ++j) {
      maximum = fmaxf(maximum, row[j]);
    }
    for (int j = 0; j < 32; ++j) {
      row[j] = expf(row[j] - maximum);
      sum += row[j];
    }
    shrink[threadIdx.x] = expf(largest[threadIdx.x] - maximum);
    total[threadIdx.x] = total[threadIdx.x] * shrink[threadIdx.x] + sum;
    largest[threadIdx.x] = maximum;
  }
}

template <int GROUP, int COLUMNS>
__global__ void
attend(const __nv_bfloat16* __restrict__ q, const unsigned char* __restrict__ k_mask,
       const __nv_bfloat16* __restrict__ k_values, const unsigned char* __restrict__ v_mask,
       const __nv_bfloat16* __restrict__ v_values, float* __restrict__ partial, float scale, int s,
       int d, int room, int length) {
  extern __shared__ float shared[];
  const int pitch = d | 1; // odd: the rows of a tile begin in different banks
  float* queries = shared;
  float* tile = queries + GROUP * pitch;
  float* weights = tile + 32 * pitch;
  float *largest = weights + GROUP * 33, *total = largest + GROUP, *shrink = total + GROUP;
  const size_t head = blockIdx.x;
  const int begin = blockIdx.y * length, end = min(begin + length, s);
  const int thread = threadIdx.x, bytes = (d + 7) / 8;
  float sums[GROUP][COLUMNS] = {};
  for (int i = thread; i < GROUP * d; i += 128) {
    queries[i / d * pitch + i % d] = __bfloat162float(q[head * GROUP * d + i]);
  }
  if (thread < GROUP) {
    largest[thread] = -INFINITY;
    total[thread] = 0.0f;
  }
  for (int first = begin; first < end; first += 32) {
    const int keys = min(32, end - first);
    const size_t at = head * s + first;
    unpack_rows(k_mask + at * bytes, k_values + at * room, tile, keys, d, room, pitch);
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
    unpack_rows(v_mask + at * bytes, v_values + at * room, tile, keys, d, room, pitch);
    move_on<GROUP>(weights, largest, total, shrink);
    __syncthreads();
    for (int c = 0; c < COLUMNS; ++c) {
      const int column = thread + 128 * c;
      for (int g = 0; g < GROUP && column < d; ++g) {
        float sum = sums[g][c] * shrink[g];
        for (int j = 0; j < keys; ++j) {
          sum += weights[g * 33 + j] * tile[j * pitch + column];
        }
        sums[g][c] = sum;
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
