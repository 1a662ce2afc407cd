/*@winnow
{
  "scratch": {
    "keys": { "dtype": "i32", "count": "2 * nnz * b_len" },
    "sums": { "dtype": "f32", "count": "2 * nnz * b_len" },
    "row_of": { "dtype": "i32", "count": "nnz" },
    "length": { "dtype": "i32", "count": "rows" }
  },
  "launches": [
    { "fill": "col_c", "value": -1 },
    { "fill": "val_c", "value": -1 },
    { "fill": "keys", "value": -1 },
    { "fill": "sums", "value": 0 },
    { "fill": "length", "value": 0 },
    { "kernel": "find_rows", "grid": ["ceil_div(nnz, 64)"], "block": [64],
      "args": ["ptr_a", "row_of", "rows", "nnz"] },
    { "kernel": "insert", "grid": ["ceil_div(nnz * b_len, 64)"], "block": [64],
      "args": ["ptr_a", "col_a", "val_a", "ptr_b", "col_b", "val_b", "row_of", "keys", "sums",
               "length", "nnz * b_len", "b_len", "cols"] },
    { "kernel": "add_lengths", "grid": [1], "block": [1], "args": ["length", "ptr_c", "rows"] },
    { "kernel": "write", "grid": ["ceil_div(2 * nnz * b_len, 64)"], "block": [64],
      "args": ["ptr_a", "row_of", "keys", "sums", "ptr_c", "col_c", "val_c", "2 * nnz * b_len",
               "b_len", "cols"] }
  ]
}
@*/
// Row-wise products in hash tables, as in SMASH: the products of a row meet in a table of twice
// their number, or twice the columns. The place of a column is the number of smaller ones in its
// table.
__device__ int slots_of(int entries, int b_len, int cols) {
  return 2 * (int)min((long long)entries * b_len, (long long)cols);
}

extern "C" __global__ void find_rows(const int* __restrict__ ptr_a, int* __restrict__ row_of,
                                     int rows, int nnz) {
  const int p = blockIdx.x * 64 + threadIdx.x;
  if (p >= nnz) {
    return;
  }
  int low = 0, high = rows - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (ptr_a[middle + 1] <= p) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  row_of[p] = low;
}

extern "C" __global__ void insert(const int* __restrict__ ptr_a, const int* __restrict__ col_a,
                                  const float* __restrict__ val_a, const int* __restrict__ ptr_b,
                                  const int* __restrict__ col_b, const float* __restrict__ val_b,
                                  const int* __restrict__ row_of, int* keys, float* sums,
                                  int* length, int products, int b_len, int cols) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= products) {
    return;
  }
  const int p = i / b_len, q = ptr_b[col_a[p]] + i % b_len, row = row_of[p];
  const int column = col_b[q];
  const long long table = 2LL * ptr_a[row] * b_len;
  const unsigned size = (unsigned)slots_of(ptr_a[row + 1] - ptr_a[row], b_len, cols);
  unsigned slot = (unsigned)column * 2654435761u % size;
  while (true) {
    const int found = atomicCAS(&keys[table + slot], -1, column);
    if (found == -1) {
      atomicAdd(&length[row], 1);
    }
    if (found == -1 || found == column) {
      break;
    }
    slot = slot + 1 == size ? 0 : slot + 1;
  }
  atomicAdd(&sums[table + slot], val_a[p] * val_b[q]);
}

extern "C" __global__ void add_lengths(const int* __restrict__ length, int* __restrict__ ptr_c,
                                       int rows) {
  int sum = 0;
  for (int row = 0; row < rows; ++row) {
    ptr_c[row] = sum;
    sum += length[row];
  }
  ptr_c[rows] = sum;
}

extern "C" __global__ void write(const int* __restrict__ ptr_a, const int* __restrict__ row_of,
                                 const int* __restrict__ keys, const float* __restrict__ sums,
                                 const int* __restrict__ ptr_c, int* __restrict__ col_c,
                                 float* __restrict__ val_c, int slots, int b_len, int cols) {
  const int slot = blockIdx.x * 64 + threadIdx.x;
  if (slot >= slots || keys[slot] < 0) {
    return;
  }
  const int row = row_of[slot / (2 * b_len)];
  const int size = slots_of(ptr_a[row + 1] - ptr_a[row], b_len, cols);
  const int* table = keys + 2LL * ptr_a[row] * b_len;
  int at = ptr_c[row];
  for (int other = 0; other < size; ++other) {
    at += (unsigned)table[other] < (unsigned)keys[slot] ? 1 : 0; // free slots are the largest
  }
  col_c[at] = keys[slot];
  val_c[at] = sums[slot];
}
