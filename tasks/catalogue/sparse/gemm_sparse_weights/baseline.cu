/*@winnow
{
  "params": { "WARPS": [4, 8] },
  "let": { "lanes": "m <= 4 ? 4 : m <= 8 ? 8 : m <= 16 ? 16 : 32", "chunks": "ceil_div(m, lanes)" },
  "scratch": { "start": { "dtype": "i32", "count": "n + 1", "keep": true },
               "entry": { "dtype": "u32", "count": "n * k", "keep": true },
               "column": { "dtype": "f16", "count": "k * m" } },
  "prepare": [
    { "kernel": "count_rows", "grid": ["n"], "block": [32], "args": ["w", "start", "k"] },
    { "kernel": "add_counts", "grid": [1], "block": [32], "args": ["start", "n"] },
    { "kernel": "pack_rows", "grid": ["n"], "block": [32], "args": ["w", "start", "entry", "k"] }
  ],
  "launches": [
    { "kernel": "turn", "grid": ["ceil_div(k, 32)", "ceil_div(m, 32)"], "block": [32, 8],
      "args": ["x", "column", "m", "k"] },
    { "kernel": "multiply<{lanes}, {WARPS}>", "grid": ["ceil_div(n, WARPS)", "chunks"],
      "block": [32, "WARPS"], "args": ["column", "start", "entry", "y", "m", "n"] }
  ]
}
@*/
// The weights that are not 0 are packed once, row after row, each with its column in one word. A
// launch turns x, so that a column is contiguous. Then a warp has a row of w: groups of LANES lanes
// take every (32 / LANES)th entry, and add a multiple of a column of x.
#include <cuda_fp16.h>

__device__ int before(unsigned mask) { // set bits of the lanes before this one
  return __popc(mask & ((1u << threadIdx.x) - 1));
}

extern "C" __global__ void count_rows(const __half* __restrict__ w, int* __restrict__ start,
                                      int k) {
  const __half* row = w + (size_t)blockIdx.x * k;
  int count = 0;
  for (int p = threadIdx.x; p < k; p += 32) {
    count += __half2float(row[p]) != 0.0f;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    count += __shfl_xor_sync(0xffffffff, count, offset);
  }
  if (threadIdx.x == 0) {
    start[blockIdx.x + 1] = count;
  }
}

extern "C" __global__ void add_counts(int* start, int n) {
  int total = 0;
  for (int first = 0; first < n; first += 32) {
    const int at = first + threadIdx.x;
    int sum = at < n ? start[at + 1] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const int other = __shfl_up_sync(0xffffffff, sum, offset);
      sum += threadIdx.x >= offset ? other : 0;
    }
    if (at < n) {
      start[at + 1] = total + sum;
    }
    total += __shfl_sync(0xffffffff, sum, 31);
  }
  if (threadIdx.x == 0) {
    start[0] = 0;
  }
}

extern "C" __global__ void pack_rows(const __half* __restrict__ w, const int* __restrict__ start,
                                     unsigned* __restrict__ entry, int k) {
  const __half* row = w + (size_t)blockIdx.x * k;
  unsigned* to = entry + start[blockIdx.x];
  for (int first = 0; first < k; first += 32) {
    const int p = first + threadIdx.x;
    const __half value = p < k ? row[p] : __float2half(0.0f);
    const bool is_kept = __half2float(value) != 0.0f;
    const unsigned mask = __ballot_sync(0xffffffff, is_kept);
    if (is_kept) {
      to[before(mask)] = (unsigned)p << 16 | __half_as_ushort(value);
    }
    to += __popc(mask);
  }
}

extern "C" __global__ void turn(const __half* __restrict__ x, __half* __restrict__ column, int m,
                                int k) {
  __shared__ __half tile[32][33];
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8) {
    if (top + r < m && left + threadIdx.x < k) {
      tile[r][threadIdx.x] = x[(size_t)(top + r) * k + left + threadIdx.x];
    }
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) {
    if (left + r < k && top + threadIdx.x < m) {
      column[(size_t)(left + r) * m + top + threadIdx.x] = tile[threadIdx.x][r];
    }
  }
}

template <int LANES, int WARPS>
__global__ void multiply(const __half* __restrict__ column, const int* __restrict__ start,
                         const unsigned* __restrict__ entry, __half* __restrict__ y, int m, int n) {
  const int j = blockIdx.x * WARPS + threadIdx.y;
  const int i = blockIdx.y * LANES + threadIdx.x % LANES;
  if (j >= n) {
    return;
  }
  const int end = start[j + 1];
  float sum = 0.0f;
  if (i < m) {
#pragma unroll 8
    for (int p = start[j] + threadIdx.x / LANES; p < end; p += 32 / LANES) {
      const unsigned word = entry[p];
      sum += __half2float(__ushort_as_half(word & 0xffff)) *
             __half2float(column[(size_t)(word >> 16) * m + i]);
    }
  }
  for (int offset = LANES; offset < 32; offset *= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x < LANES && i < m) {
    y[(size_t)i * n + j] = __float2half(sum);
  }
}
