/*@winnow
{
  "let": { "planes": "batch * heads", "chunks": "ceil_div(s, 64)" },
  "scratch": { "decay": { "dtype": "f32", "count": "planes * s" },
               "gain": { "dtype": "f32", "count": "planes * s" },
               "state": { "dtype": "f32", "count": "planes * chunks * d * dv" } },
  "launches": [
    { "kernel": "gates", "grid": ["chunks", "planes"], "block": [64],
      "args": ["input", "forget", "decay", "gain", "s"] },
    { "kernel": "states", "grid": ["ceil_div(dv, 64)", "ceil_div(d, 64)", "planes"],
      "block": [16, 16], "args": ["k", "v", "decay", "gain", "c0", "state", "s", "d", "dv"] },
    { "kernel": "outputs", "grid": ["ceil_div(dv, 64)", "chunks", "planes"], "block": [16, 16],
      "args": ["q", "k", "v", "decay", "gain", "state", "out", { "float": "scale / sqrt(d)" }, "s",
               "d", "dv"] }
  ]
}
@*/
// Chunks of 64 positions. One launch multiplies gates inside of a chunk. The next one walks over
// the chunks with a tile of 64 x 64 elements of the state, and stores what the state is before each
// chunk. The last one adds for each chunk what the state before it and its own positions give.
#include <cuda_bf16.h>

constexpr int kSide = 64, kDepth = 16, kPitch = 65;

// Four rows and four columns of a tile, 16 apart, for each of 16 x 16 threads.
struct Sums {
  float at[4][4] = {};

  // Adds the product of a kSide x kDepth tile, stored as columns, and a kDepth x kSide tile.
  __device__ void add(const float (*left)[kPitch], const float (*right)[kPitch]) {
#pragma unroll
    for (int p = 0; p < kDepth; ++p) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          at[i][j] += left[p][threadIdx.y + 16 * i] * right[p][threadIdx.x + 16 * j];
        }
      }
    }
  }
};

__device__ int thread_index() {
  return threadIdx.y * 16 + threadIdx.x;
}

// kDepth rows of 64 numbers from row `top` and column `left` on, times a factor for each row.
__device__ void load_rows(const __nv_bfloat16* from, float (*tile)[kPitch], int top, int rows,
                          int left, int columns, const float* factor) {
  for (int i = thread_index(); i < kDepth * kSide; i += 256) {
    const int row = i / kSide, c = i % kSide;
    const bool is_inside = top + row < rows && left + c < columns;
    const float number =
        is_inside ? __bfloat162float(from[(size_t)(top + row) * columns + left + c]) : 0.0f;
    tile[row][c] = factor != nullptr ? factor[row] * number : number;
  }
}

// kDepth columns of 64 numbers from row `top` and column `left` on, each column as a row.
__device__ void load_columns(const __nv_bfloat16* from, float (*tile)[kPitch], int top, int rows,
                             int left, int columns) {
  for (int i = thread_index(); i < kDepth * kSide; i += 256) {
    const int row = i / kDepth, c = i % kDepth;
    const bool is_inside = top + row < rows && left + c < columns;
    tile[c][row] =
        is_inside ? __bfloat162float(from[(size_t)(top + row) * columns + left + c]) : 0.0f;
  }
}

// The product of the forget gates from the beginning of the chunk to each position, as logarithm.
extern "C" __global__ void gates(const float* __restrict__ input, const float* __restrict__ forget,
                                 float* __restrict__ decay, float* __restrict__ gain, int s) {
  __shared__ float sums[2][kSide];
  const int lane = threadIdx.x, t = blockIdx.x * kSide + lane;
  const size_t at = (size_t)blockIdx.y * s + t;
  const float gate = t < s ? forget[at] : 0.0f;
  sums[0][lane] = fminf(gate, 0.0f) - log1pf(expf(-fabsf(gate)));
  int from = 0;
  for (int offset = 1; offset < kSide; offset *= 2) {
    __syncthreads();
    const float other = lane >= offset ? sums[from][lane - offset] : 0.0f;
    sums[1 - from][lane] = sums[from][lane] + other;
    from = 1 - from;
  }
  if (t < s) {
    decay[at] = sums[from][lane];
    gain[at] = 1.0f / (1.0f + expf(-input[at]));
  }
}

extern "C" __global__ void states(const __nv_bfloat16* __restrict__ k,
                                  const __nv_bfloat16* __restrict__ v,
                                  const float* __restrict__ decay, const float* __restrict__ gain,
                                  const float* __restrict__ c0, float* __restrict__ state, int s,
                                  int d, int dv) {
  __shared__ float keys[kDepth][kPitch], values[kDepth][kPitch], factors[kSide];
  const int right = blockIdx.x * kSide, top = blockIdx.y * kSide;
  const int chunks = (s + kSide - 1) / kSide;
  const size_t plane = blockIdx.z;
  Sums sums;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = top + threadIdx.y + 16 * i, c = right + threadIdx.x + 16 * j;
      sums.at[i][j] = row < d && c < dv ? c0[(plane * d + row) * dv + c] : 0.0f;
    }
  }
  for (int chunk = 0; chunk < chunks; ++chunk) {
    float* to = state + (plane * chunks + chunk) * d * dv;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const int row = top + threadIdx.y + 16 * i, c = right + threadIdx.x + 16 * j;
        if (row < d && c < dv) {
          to[(size_t)row * dv + c] = sums.at[i][j];
        }
      }
    }
    const int first = chunk * kSide, end = min(first + kSide, s), lane = thread_index();
    const float last = decay[plane * s + end - 1], kept = expf(last);
    if (lane < kSide) {
      const size_t at = plane * s + first + lane;
      factors[lane] = first + lane < end ? gain[at] * expf(last - decay[at]) : 0.0f;
    }
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        sums.at[i][j] *= kept;
      }
    }
    for (int step = 0; step < kSide; step += kDepth) {
      __syncthreads();
      load_rows(k + plane * s * d, keys, first + step, s, top, d, factors + step);
      load_rows(v + plane * s * dv, values, first + step, s, right, dv, nullptr);
      __syncthreads();
      sums.add(keys, values);
    }
    __syncthreads();
  }
}

// The weights of a chunk's positions for each of them, stored as columns.
__device__ void chunk_weights(const __nv_bfloat16* q, const __nv_bfloat16* k, const float* decays,
                              const float* gains, float (*weights)[kPitch],
                              float (*left_tile)[kPitch], float (*right_tile)[kPitch], float scale,
                              int first, int s, int d) {
  Sums sums;
  for (int c = 0; c < d; c += kDepth) {
    load_columns(q, left_tile, first, s, c, d);
    load_columns(k, right_tile, first, s, c, d);
    __syncthreads();
    sums.add(left_tile, right_tile);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int t = threadIdx.y + 16 * i, key = threadIdx.x + 16 * j;
      const float gate = key <= t ? expf(decays[t] - decays[key]) * gains[key] : 0.0f;
      weights[key][t] = scale * gate * sums.at[i][j];
    }
  }
}

extern "C" __global__ void outputs(const __nv_bfloat16* __restrict__ q,
                                   const __nv_bfloat16* __restrict__ k,
                                   const __nv_bfloat16* __restrict__ v,
                                   const float* __restrict__ decay, const float* __restrict__ gain,
                                   const float* __restrict__ state, __nv_bfloat16* __restrict__ out,
                                   float scale, int s, int d, int dv) {
  __shared__ float weights[kSide][kPitch], left_tile[kDepth][kPitch], right_tile[kDepth][kPitch];
  __shared__ float decays[kSide], gains[kSide];
  const int right = blockIdx.x * kSide, chunk = blockIdx.y, first = chunk * kSide;
  const size_t plane = blockIdx.z;
  const int lane = thread_index();
  q += plane * s * d;
  if (lane < kSide) {
    const bool is_inside = first + lane < s;
    decays[lane] = is_inside ? decay[plane * s + first + lane] : 0.0f;
    gains[lane] = is_inside ? gain[plane * s + first + lane] : 0.0f;
  }
  __syncthreads();
  chunk_weights(q, k + plane * s * d, decays, gains, weights, left_tile, right_tile, scale, first,
                s, d);
  const float* before = state + (plane * gridDim.y + chunk) * d * dv;
  Sums sums;
  for (int c = 0; c < d; c += kDepth) {
    load_columns(q, left_tile, first, s, c, d);
    for (int i = lane; i < kDepth * kSide; i += 256) {
      const int row = c + i / kSide, column = right + i % kSide;
      right_tile[i / kSide][i % kSide] =
          row < d && column < dv ? before[(size_t)row * dv + column] : 0.0f;
    }
    __syncthreads();
    sums.add(left_tile, right_tile);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      sums.at[i][j] *= scale * expf(decays[threadIdx.y + 16 * i]);
    }
  }
  for (int step = 0; step < kSide; step += kDepth) {
    load_rows(v + plane * s * dv, right_tile, first + step, s, right, dv, nullptr);
    __syncthreads();
    sums.add(weights + step, right_tile);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int t = first + threadIdx.y + 16 * i, c = right + threadIdx.x + 16 * j;
      if (t < s && c < dv) {
        out[(plane * s + t) * dv + c] = __float2bfloat16(sums.at[i][j]);
      }
    }
  }
}
