/*@winnow
{
  "params": { "T": [128, 64] },
  "let": { "words": "ceil_div(cols, 32)" },
  "scratch": { "length": { "dtype": "i32", "count": "rows" } },
  "launches": [
    { "fill": "col_c", "value": -1 },
    { "fill": "val_c", "value": -1 },
    { "kernel": "count_columns<{T}>", "grid": ["rows"], "block": ["T"],
      "shared_bytes": "4 * words",
      "args": ["ptr_a", "col_a", "col_b", "length", "words", "b_len"] },
    { "kernel": "add_lengths<512>", "grid": [1], "block": [512],
      "args": ["length", "ptr_c", "rows"] },
    { "kernel": "write_row<{T}>", "grid": ["rows"], "block": ["T"], "shared_bytes": "8 * words",
      "args": ["ptr_a", "col_a", "val_a", "col_b", "val_b", "ptr_c", "col_c", "val_c", "words",
               "b_len"] }
  ]
}
@*/
// A block for each row, with a bit in shared memory for each column. The first pass counts the
// bits. The second one finds the place of each product by the bits before it, and adds by atomics.
template <int T>
__device__ void mark_columns(const int* __restrict__ col_a, const int* __restrict__ col_b,
                             unsigned* bits, int words, int b_len, int begin, int products) {
  for (int word = threadIdx.x; word < words; word += T) {
    bits[word] = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < products; i += T) {
    const int column = col_b[col_a[begin + i / b_len] * b_len + i % b_len];
    atomicOr(&bits[column / 32], 1u << column % 32);
  }
  __syncthreads();
}

// The sum of the values of the threads before this one, and of all threads.
template <int T> __device__ int sum_before(int value, int* sums, int& all) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = value;
  for (int step = 1; step < 32; step *= 2) {
    const int more = __shfl_up_sync(0xffffffff, sum, step, 32);
    sum += lane >= step ? more : 0;
  }
  if (lane == 31) {
    sums[warp] = sum;
  }
  __syncthreads();
  all = 0;
  for (int other = 0; other < T / 32; ++other) {
    sum += other < warp ? sums[other] : 0;
    all += sums[other];
  }
  return sum - value;
}

template <int T>
__global__ void count_columns(const int* __restrict__ ptr_a, const int* __restrict__ col_a,
                              const int* __restrict__ col_b, int* __restrict__ length, int words,
                              int b_len) {
  extern __shared__ unsigned bits[];
  __shared__ int sums[T / 32];
  const int begin = ptr_a[blockIdx.x], products = (ptr_a[blockIdx.x + 1] - begin) * b_len;
  int all = 0;
  if (products > 0) {
    mark_columns<T>(col_a, col_b, bits, words, b_len, begin, products);
    int count = 0;
    for (int word = threadIdx.x; word < words; word += T) {
      count += __popc(bits[word]);
    }
    sum_before<T>(count, sums, all);
  }
  if (threadIdx.x == 0) {
    length[blockIdx.x] = all;
  }
}

template <int T>
__global__ void add_lengths(const int* __restrict__ length, int* __restrict__ ptr_c, int rows) {
  __shared__ int sums[T / 32];
  const int share = (rows + T - 1) / T;
  const int begin = min((int)threadIdx.x * share, rows), end = min(begin + share, rows);
  int sum = 0, all = 0;
  for (int row = begin; row < end; ++row) {
    sum += length[row];
  }
  int before = sum_before<T>(sum, sums, all);
  for (int row = begin; row < end; ++row) {
    ptr_c[row] = before;
    before += length[row];
  }
  if (threadIdx.x == 0) {
    ptr_c[rows] = all;
  }
}

template <int T>
__global__ void write_row(const int* __restrict__ ptr_a, const int* __restrict__ col_a,
                          const float* __restrict__ val_a, const int* __restrict__ col_b,
                          const float* __restrict__ val_b, const int* __restrict__ ptr_c,
                          int* __restrict__ col_c, float* val_c, int words, int b_len) {
  extern __shared__ unsigned bits[];
  __shared__ int sums[T / 32];
  int* before = reinterpret_cast<int*>(bits) + words; // the place of the first column of a word
  const int begin = ptr_a[blockIdx.x], products = (ptr_a[blockIdx.x + 1] - begin) * b_len;
  if (products == 0) {
    return;
  }
  mark_columns<T>(col_a, col_b, bits, words, b_len, begin, products);
  const int share = (words + T - 1) / T;
  const int first = min((int)threadIdx.x * share, words), last = min(first + share, words);
  int count = 0, all = 0;
  for (int word = first; word < last; ++word) {
    count += __popc(bits[word]);
  }
  int at = ptr_c[blockIdx.x] + sum_before<T>(count, sums, all);
  for (int word = first; word < last; ++word) {
    before[word] = at;
    for (unsigned left = bits[word]; left != 0; left &= left - 1) {
      col_c[at] = word * 32 + __ffs(left) - 1;
      val_c[at++] = 0.0f;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < products; i += T) {
    const int p = begin + i / b_len, q = col_a[p] * b_len + i % b_len;
    const int column = col_b[q];
    const unsigned below = bits[column / 32] & ((1u << column % 32) - 1);
    atomicAdd(&val_c[before[column / 32] + __popc(below)], val_a[p] * val_b[q]);
  }
}
