/*@winnow
{
  "params": { "BLOCK": [256, 512, 128], "WARPS": [4, 8, 2] },
  "let": { "short_rows": "cols <= 1024 && k <= 64" },
  "launches": [
    { "kernel": "warp_a_row<{WARPS}>", "grid": ["ceil_div(rows, WARPS)"], "block": [32, "WARPS"],
      "args": ["x", "values", "indices", "rows", "cols", "k"], "when": "short_rows" },
    { "kernel": "radix_select<{BLOCK}>", "grid": ["rows"], "block": ["BLOCK"],
      "shared_bytes": "8 * k", "args": ["x", "values", "indices", "cols", "k"],
      "when": "!short_rows" }
  ]
}
@*/
// Short rows: a warp takes the largest key again and again. Long rows: a block finds the k-th key
// digit by digit, collects the keys that are not smaller, and orders them by counting.
typedef unsigned long long Key;

// Larger for a larger value, and for a smaller column of equal values. No two columns share a key.
__device__ Key key_of(float value, unsigned column) {
  const int bits = __float_as_int(value + 0.0f); // one zero only
  const unsigned ordered = bits < 0 ? ~(unsigned)bits : (unsigned)bits | 0x80000000u;
  return (Key)ordered << 32 | ~column;
}

__device__ void put(Key key, const float* row, float* value, int* index) {
  const unsigned column = ~(unsigned)key;
  *value = row[column];
  *index = column;
}

// The largest key below `limit` of this lane's columns; 0 if there is none.
__device__ Key best_below(Key limit, const float* row, int cols) {
  Key best = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const Key key = key_of(row[c], c);
    best = key < limit && key > best ? key : best;
  }
  return best;
}

template <int WARPS>
__global__ void warp_a_row(const float* __restrict__ x, float* __restrict__ values,
                           int* __restrict__ indices, int rows, int cols, int k) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const float* elements = x + (size_t)row * cols;
  Key best = best_below(~(Key)0, elements, cols);
  for (int i = 0; i < k; ++i) {
    Key top = best;
    for (int offset = 16; offset > 0; offset /= 2) {
      const Key other = __shfl_xor_sync(0xffffffff, top, offset);
      top = other > top ? other : top;
    }
    if (best == top) {
      put(top, elements, values + (size_t)row * k + i, indices + (size_t)row * k + i);
      best = best_below(top, elements, cols);
    }
  }
}

template <int BLOCK>
__global__ void radix_select(const float* __restrict__ x, float* __restrict__ values,
                             int* __restrict__ indices, int cols, int k) {
  extern __shared__ Key winners[];
  __shared__ int counts[256];
  __shared__ int chosen, left, found;
  const float* elements = x + (size_t)blockIdx.x * cols;
  Key prefix = 0, mask = 0;
  int wanted = k; // among the keys that begin with prefix
  bool is_complete = false;
  for (int shift = 56; shift >= 0 && !is_complete; shift -= 8) {
    for (int b = threadIdx.x; b < 256; b += BLOCK) {
      counts[b] = 0;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += BLOCK) {
      const Key key = key_of(elements[c], c);
      if ((key & mask) == prefix) {
        atomicAdd(&counts[key >> shift & 255], 1);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int digit = 255, rest = wanted;
      while (counts[digit] < rest) {
        rest -= counts[digit--];
      }
      chosen = digit;
      left = rest;
      found = 0;
    }
    __syncthreads();
    prefix |= (Key)chosen << shift;
    mask |= (Key)255 << shift;
    wanted = left;
    is_complete = counts[chosen] == left;
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const Key key = key_of(elements[c], c);
    if ((key & mask) >= prefix) {
      winners[atomicAdd(&found, 1)] = key;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < k; i += BLOCK) {
    int rank = 0;
    for (int j = 0; j < k; ++j) {
      rank += winners[j] > winners[i] ? 1 : 0;
    }
    put(winners[i], elements, values + (size_t)blockIdx.x * k + rank,
        indices + (size_t)blockIdx.x * k + rank);
  }
}
