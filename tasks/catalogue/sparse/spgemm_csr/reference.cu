/*@winnow
{
  "let": { "words": "ceil_div(cols, 32)" },
  "scratch": { "length": { "dtype": "i32", "count": "rows" } },
  "launches": [
    { "fill": "col_c", "value": -1 },
    { "fill": "val_c", "value": -1 },
    { "fill": "val_c_magnitude", "value": 0 },
    { "kernel": "count_columns", "grid": ["rows"], "block": [32], "shared_bytes": "4 * words",
      "args": ["ptr_a", "col_a", "ptr_b", "col_b", "length", "words"] },
    { "kernel": "add_lengths", "grid": [1], "block": [1], "args": ["length", "ptr_c", "rows"] },
    { "kernel": "write_row", "grid": ["rows"], "block": [32], "shared_bytes": "8 * words",
      "args": ["ptr_a", "col_a", "val_a", "ptr_b", "col_b", "val_b", "ptr_c", "col_c", "val_c",
               "val_c_magnitude", "words", "nnz * b_len"] }
  ]
}
@*/
// A block for each row, with a bit for each column: those that some product falls into. Places that
// stay free are -1.
__device__ void mark_columns(const int* ptr_a, const int* col_a, const int* ptr_b, const int* col_b,
                             unsigned* bits, int words) {
  for (int word = threadIdx.x; word < words; word += blockDim.x) {
    bits[word] = 0;
  }
  __syncthreads();
  for (int p = ptr_a[blockIdx.x] + threadIdx.x; p < ptr_a[blockIdx.x + 1]; p += blockDim.x) {
    for (int q = ptr_b[col_a[p]]; q < ptr_b[col_a[p] + 1]; ++q) {
      atomicOr(&bits[col_b[q] / 32], 1u << col_b[q] % 32);
    }
  }
  __syncthreads();
}

extern "C" __global__ void count_columns(const int* ptr_a, const int* col_a, const int* ptr_b,
                                         const int* col_b, int* length, int words) {
  extern __shared__ unsigned bits[];
  __shared__ int sum;
  if (threadIdx.x == 0) {
    sum = 0;
  }
  mark_columns(ptr_a, col_a, ptr_b, col_b, bits, words);
  for (int word = threadIdx.x; word < words; word += blockDim.x) {
    if (bits[word] != 0) {
      atomicAdd(&sum, __popc(bits[word]));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    length[blockIdx.x] = sum;
  }
}

extern "C" __global__ void add_lengths(const int* length, int* ptr_c, int rows) {
  int sum = 0;
  for (int row = 0; row < rows; ++row) {
    ptr_c[row] = sum;
    sum += length[row];
  }
  ptr_c[rows] = sum;
}

extern "C" __global__ void write_row(const int* ptr_a, const int* col_a, const float* val_a,
                                     const int* ptr_b, const int* col_b, const float* val_b,
                                     const int* ptr_c, int* col_c, double* val_c, double* magnitude,
                                     int words, int room) {
  extern __shared__ unsigned bits[];
  int* before = reinterpret_cast<int*>(bits) + words; // the place of the first column of a word
  mark_columns(ptr_a, col_a, ptr_b, col_b, bits, words);
  if (threadIdx.x == 0) {
    int sum = ptr_c[blockIdx.x];
    for (int word = 0; word < words; ++word) {
      before[word] = sum;
      for (unsigned left = bits[word]; left != 0 && sum < room; left &= left - 1) {
        col_c[sum] = word * 32 + __ffs(left) - 1;
        val_c[sum++] = 0;
      }
    }
  }
  __syncthreads();
  for (int p = ptr_a[blockIdx.x] + threadIdx.x; p < ptr_a[blockIdx.x + 1]; p += blockDim.x) {
    for (int q = ptr_b[col_a[p]]; q < ptr_b[col_a[p] + 1]; ++q) {
      const int word = col_b[q] / 32;
      const unsigned below = bits[word] & ((1u << col_b[q] % 32) - 1);
      const int at = before[word] + __popc(below);
      if (at < room) {
        const double product = NARROW(product, (double)val_a[p] * (double)val_b[q]);
        atomicAdd(&val_c[at], product);
        atomicAdd(&magnitude[at], fabs(product));
      }
    }
  }
}
