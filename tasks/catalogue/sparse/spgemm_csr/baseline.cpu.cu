/*@winnow
{
  "params": { "PARTS": [16, 4, 64] },
  "let": { "words": "ceil_div(cols, 32)" },
  "scratch": {
    "length": { "dtype": "i32", "count": "rows" },
    "bits": { "dtype": "u32", "count": "PARTS * words" },
    "sums": { "dtype": "f32", "count": "PARTS * cols" }
  },
  "launches": [
    { "fill": "bits", "value": 0 },
    { "kernel": "count_columns<{PARTS}>", "grid": ["PARTS"], "block": [1],
      "args": ["ptr_a", "col_a", "col_b", "length", "bits", "rows", "words", "b_len"] },
    { "kernel": "add_lengths", "grid": [1], "block": [1], "args": ["length", "ptr_c", "rows"] },
    { "kernel": "write_rows<{PARTS}>", "grid": ["PARTS"], "block": [1],
      "args": ["ptr_a", "col_a", "val_a", "col_b", "val_b", "ptr_c", "col_c", "val_c", "bits",
               "sums", "rows", "words", "cols", "b_len"] },
    { "kernel": "fill_rest", "grid": [8], "block": [1],
      "args": ["ptr_c", "col_c", "val_c", "rows", "nnz * b_len"] }
  ]
}
@*/
// A block is one thread with every PARTSth row. It keeps a sum and a bit for each column, and reads
// the bits in order.
template <int PARTS>
__global__ void count_columns(const int* __restrict__ ptr_a, const int* __restrict__ col_a,
                              const int* __restrict__ col_b, int* __restrict__ length,
                              unsigned* __restrict__ all_bits, int rows, int words, int b_len) {
  unsigned* bits = all_bits + (size_t)blockIdx.x * words;
  for (int row = blockIdx.x; row < rows; row += PARTS) {
    for (int p = ptr_a[row]; p < ptr_a[row + 1]; ++p) {
      for (int q = col_a[p] * b_len; q < (col_a[p] + 1) * b_len; ++q) {
        bits[col_b[q] / 32] |= 1u << col_b[q] % 32;
      }
    }
    int count = 0;
    for (int word = 0; word < words; ++word) {
      count += __popc(bits[word]);
      bits[word] = 0;
    }
    length[row] = count;
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

template <int PARTS>
__global__ void write_rows(const int* __restrict__ ptr_a, const int* __restrict__ col_a,
                           const float* __restrict__ val_a, const int* __restrict__ col_b,
                           const float* __restrict__ val_b, const int* __restrict__ ptr_c,
                           int* __restrict__ col_c, float* __restrict__ val_c,
                           unsigned* __restrict__ all_bits, float* __restrict__ all_sums, int rows,
                           int words, int cols, int b_len) {
  unsigned* bits = all_bits + (size_t)blockIdx.x * words;
  float* sums = all_sums + (size_t)blockIdx.x * cols;
  for (int row = blockIdx.x; row < rows; row += PARTS) {
    for (int p = ptr_a[row]; p < ptr_a[row + 1]; ++p) {
      for (int q = col_a[p] * b_len; q < (col_a[p] + 1) * b_len; ++q) {
        const int column = col_b[q];
        const unsigned bit = 1u << column % 32;
        const float before = (bits[column / 32] & bit) != 0 ? sums[column] : 0.0f;
        sums[column] = before + val_a[p] * val_b[q];
        bits[column / 32] |= bit;
      }
    }
    int at = ptr_c[row];
    for (int word = 0; word < words; ++word) {
      for (unsigned left = bits[word]; left != 0; left &= left - 1) {
        const int column = word * 32 + __ffs(left) - 1;
        col_c[at] = column;
        val_c[at++] = sums[column];
      }
      bits[word] = 0;
    }
  }
}

__global__ void fill_rest(const int* __restrict__ ptr_c, int* __restrict__ col_c,
                          float* __restrict__ val_c, int rows, int room) {
  const int from = ptr_c[rows], share = (room - from + 7) / 8;
  const int begin = from + blockIdx.x * share, end = min(begin + share, room);
  for (int at = begin; at < end; ++at) {
    col_c[at] = -1;
    val_c[at] = -1.0f;
  }
}
