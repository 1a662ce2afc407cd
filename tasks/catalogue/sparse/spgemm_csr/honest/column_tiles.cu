/*@winnow
{
  "params": { "TILE": [4096, 1024], "T": [256] },
  "scratch": { "length": { "dtype": "i32", "count": "rows" } },
  "launches": [
    { "fill": "col_c", "value": -1 },
    { "fill": "val_c", "value": -1 },
    { "kernel": "row_by_tiles<false>", "grid": ["rows"], "block": ["T"],
      "args": ["ptr_a", "col_a", "val_a", "ptr_b", "col_b", "val_b", "length", "ptr_c", "col_c",
               "val_c", "cols"] },
    { "kernel": "add_lengths", "grid": [1], "block": [1], "args": ["length", "ptr_c", "rows"] },
    { "kernel": "row_by_tiles<true>", "grid": ["rows"], "block": ["T"],
      "args": ["ptr_a", "col_a", "val_a", "ptr_b", "col_b", "val_b", "length", "ptr_c", "col_c",
               "val_c", "cols"] }
  ]
}
@*/
// A block for each row holds dense sums of TILE columns at a time in shared memory. Binary search
// finds where a row of b enters the tile.
__device__ int first_not_below(const int* col, int begin, int end, int limit) {
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (col[middle] < limit) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

template <bool WRITES>
__global__ void row_by_tiles(const int* __restrict__ ptr_a, const int* __restrict__ col_a,
                             const float* __restrict__ val_a, const int* __restrict__ ptr_b,
                             const int* __restrict__ col_b, const float* __restrict__ val_b,
                             int* __restrict__ length, const int* ptr_c, int* __restrict__ col_c,
                             float* __restrict__ val_c, int cols) {
  __shared__ float sums[TILE];
  __shared__ unsigned bits[TILE / 32];
  __shared__ int counts[T];
  const int begin = ptr_a[blockIdx.x], end = ptr_a[blockIdx.x + 1];
  int at = WRITES ? ptr_c[blockIdx.x] : 0;
  for (int left = 0; left < cols && begin < end; left += TILE) {
    for (int j = threadIdx.x; j < TILE; j += T) {
      sums[j] = 0.0f;
      if (j % 32 == 0) {
        bits[j / 32] = 0;
      }
    }
    __syncthreads();
    for (int p = begin + threadIdx.x; p < end; p += T) {
      const int last = ptr_b[col_a[p] + 1];
      for (int q = first_not_below(col_b, ptr_b[col_a[p]], last, left);
           q < last && col_b[q] < left + TILE; ++q) {
        const int j = col_b[q] - left;
        atomicOr(&bits[j / 32], 1u << j % 32);
        atomicAdd(&sums[j], val_a[p] * val_b[q]);
      }
    }
    __syncthreads();
    constexpr int kWords = TILE / 32, kShare = (kWords + T - 1) / T; // words for each thread
    const int begin_word = min((int)threadIdx.x * kShare, kWords);
    const int end_word = min(begin_word + kShare, kWords);
    int count = 0;
    for (int word = begin_word; word < end_word; ++word) {
      count += __popc(bits[word]);
    }
    counts[threadIdx.x] = count;
    __syncthreads();
    int before = at;
    for (int thread = 0; thread < T; ++thread) {
      before += thread < threadIdx.x ? counts[thread] : 0;
      at += counts[thread];
    }
    for (int word = begin_word; WRITES && word < end_word; ++word) {
      for (unsigned rest = bits[word]; rest != 0; rest &= rest - 1) {
        const int j = word * 32 + __ffs(rest) - 1;
        col_c[before] = left + j;
        val_c[before++] = sums[j];
      }
    }
    __syncthreads();
  }
  if (!WRITES && threadIdx.x == 0) {
    length[blockIdx.x] = at;
  }
}

__global__ void add_lengths(const int* __restrict__ length, int* __restrict__ ptr_c, int rows) {
  int sum = 0;
  for (int row = 0; row < rows; ++row) {
    ptr_c[row] = sum;
    sum += length[row];
  }
  ptr_c[rows] = sum;
}
