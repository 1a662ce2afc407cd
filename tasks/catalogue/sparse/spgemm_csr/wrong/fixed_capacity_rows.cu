/*@winnow
{
  "let": { "words": "ceil_div(cols, 32)", "most": "16 + 2 * ceil_div(nnz, rows)" },
  "scratch": {
    "length": { "dtype": "i32", "count": "rows" },
    "bits": { "dtype": "u32", "count": "32 * words" },
    "sums": { "dtype": "f32", "count": "32 * cols" }
  },
  "launches": [
    { "fill": "col_c", "value": -1 },
    { "fill": "val_c", "value": -1 },
    { "fill": "bits", "value": 0 },
    { "fill": "sums", "value": 0 },
    { "kernel": "do_rows<false>", "grid": [32], "block": [1],
      "args": ["ptr_a", "col_a", "val_a", "col_b", "val_b", "length", "ptr_c", "col_c", "val_c",
               "bits", "sums", "rows", "words", "cols", "b_len", "most"] },
    { "kernel": "add_lengths", "grid": [1], "block": [1], "args": ["length", "ptr_c", "rows"] },
    { "kernel": "do_rows<true>", "grid": [32], "block": [1],
      "args": ["ptr_a", "col_a", "val_a", "col_b", "val_b", "length", "ptr_c", "col_c", "val_c",
               "bits", "sums", "rows", "words", "cols", "b_len", "most"] }
  ]
}
@*/
// Wrong: a row has room for 16 entries of a more than twice the usual number. Others are left out.
template <bool WRITES>
__global__ void do_rows(const int* ptr_a, const int* col_a, const float* val_a, const int* col_b,
                        const float* val_b, int* length, const int* ptr_c, int* col_c, float* val_c,
                        unsigned* all_bits, float* all_sums, int rows, int words, int cols,
                        int b_len, int most) {
  unsigned* bits = all_bits + (size_t)blockIdx.x * words;
  float* sums = all_sums + (size_t)blockIdx.x * cols;
  for (int row = blockIdx.x; row < rows; row += 32) {
    for (int p = ptr_a[row]; p < min(ptr_a[row + 1], ptr_a[row] + most); ++p) {
      for (int q = col_a[p] * b_len; q < (col_a[p] + 1) * b_len; ++q) {
        bits[col_b[q] / 32] |= 1u << col_b[q] % 32;
        sums[col_b[q]] += val_a[p] * val_b[q];
      }
    }
    int at = WRITES ? ptr_c[row] : 0;
    for (int j = 0; j < cols; ++j) {
      if ((bits[j / 32] >> j % 32 & 1) == 0) {
        continue;
      }
      if (WRITES) {
        col_c[at] = j;
        val_c[at] = sums[j];
      }
      sums[j] = 0.0f;
      ++at;
    }
    for (int word = 0; word < words; ++word) {
      bits[word] = 0;
    }
    if (!WRITES) {
      length[row] = at;
    }
  }
}

__global__ void add_lengths(const int* length, int* ptr_c, int rows) {
  int sum = 0;
  for (int row = 0; row < rows; ++row) {
    ptr_c[row] = sum;
    sum += length[row];
  }
  ptr_c[rows] = sum;
}
