/*@winnow
{
  "let": { "room": "nnz * b_len", "passes": "log2_ceil(inner)" },
  "scratch": {
    "row_of": { "dtype": "i32", "count": "nnz" },
    "col0": { "dtype": "i32", "count": "room" },
    "col1": { "dtype": "i32", "count": "room" },
    "val0": { "dtype": "f32", "count": "room" },
    "val1": { "dtype": "f32", "count": "room" },
    "sums": { "dtype": "i32", "count": "ceil_div(room, 512) + 1" },
    "place": { "dtype": "i32", "count": "room + 1" }
  },
  "launches": [
    { "fill": "col_c", "value": -1 },
    { "fill": "val_c", "value": -1 },
    { "kernel": "find_rows", "grid": ["rows"], "block": [32], "args": ["ptr_a", "row_of"] },
    { "kernel": "expand", "grid": ["ceil_div(room, 64)"], "block": [64],
      "args": ["col_a", "val_a", "ptr_b", "col_b", "val_b", "col0", "val0", "room", "b_len"] },
    { "repeat": "passes", "as": "t", "do": [
      { "kernel": "merge", "grid": ["ceil_div(room, 64)"], "block": [64],
        "args": ["ptr_a", "row_of", { "pick": ["col0", "col1"], "by": "t % 2" },
                 { "pick": ["val0", "val1"], "by": "t % 2" },
                 { "pick": ["col1", "col0"], "by": "t % 2" },
                 { "pick": ["val1", "val0"], "by": "t % 2" }, "room", "b_len", "b_len << t"] } ] },
    { "kernel": "count_heads", "grid": ["ceil_div(room, 512)"], "block": [32],
      "args": ["ptr_a", "row_of", { "pick": ["col0", "col1"], "by": "passes % 2" }, "sums", "place",
               "room", "b_len"] },
    { "kernel": "add_sums", "grid": [1], "block": [1],
      "args": ["sums", "ceil_div(room, 512)"] },
    { "kernel": "write", "grid": ["ceil_div(room, 64)"], "block": [64],
      "args": ["ptr_a", "row_of", { "pick": ["col0", "col1"], "by": "passes % 2" },
               { "pick": ["val0", "val1"], "by": "passes % 2" }, "sums", "place", "col_c", "val_c",
               "room", "b_len"] },
    { "kernel": "write_rows", "grid": ["ceil_div(rows + 1, 64)"], "block": [64],
      "args": ["ptr_a", "sums", "place", "ptr_c", "rows", "room", "b_len"] }
  ]
}
@*/
// All products are written out. The products of one row of b ascend already, so passes of merges
// sort each row of c: a product moves up by the number of products of the other run before it.
// Equal columns are neighbours then. The first of them adds all.
extern "C" __global__ void find_rows(const int* __restrict__ ptr_a, int* __restrict__ row_of) {
  for (int p = ptr_a[blockIdx.x] + threadIdx.x; p < ptr_a[blockIdx.x + 1]; p += 32) {
    row_of[p] = blockIdx.x;
  }
}

extern "C" __global__ void expand(const int* __restrict__ col_a, const float* __restrict__ val_a,
                                  const int* __restrict__ ptr_b, const int* __restrict__ col_b,
                                  const float* __restrict__ val_b, int* __restrict__ col,
                                  float* __restrict__ val, int room, int b_len) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < room) {
    const int q = ptr_b[col_a[i / b_len]] + i % b_len;
    col[i] = col_b[q];
    val[i] = val_a[i / b_len] * val_b[q];
  }
}

// How many of the ascending columns in [begin, end) are below `limit`.
__device__ int count_below(const int* col, int begin, int end, int limit) {
  int low = begin;
  while (low < end) {
    const int middle = low + (end - low) / 2;
    if (col[middle] < limit) {
      low = middle + 1;
    } else {
      end = middle;
    }
  }
  return low - begin;
}

extern "C" __global__ void merge(const int* __restrict__ ptr_a, const int* __restrict__ row_of,
                                 const int* __restrict__ col, const float* __restrict__ val,
                                 int* __restrict__ new_col, float* __restrict__ new_val, int room,
                                 int b_len, int length) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= room) {
    return;
  }
  const int row = row_of[i / b_len], begin = ptr_a[row] * b_len, end = ptr_a[row + 1] * b_len;
  const int run = (i - begin) / length, place = (i - begin) % length;
  const long long other = begin + (long long)(run ^ 1) * length;
  int before = 0;
  if (other < end) {
    const int other_end = (int)min(other + length, (long long)end);
    before = count_below(col, (int)other, other_end, col[i] + run % 2); // equal: the left run first
  }
  const int at = begin + (run - run % 2) * length + place + before;
  new_col[at] = col[i];
  new_val[at] = val[i];
}

__device__ bool is_head(const int* ptr_a, const int* row_of, const int* col, int i, int b_len) {
  return i == ptr_a[row_of[i / b_len]] * b_len || col[i] != col[i - 1];
}

// The heads before each product, counted from the first of its 512.
extern "C" __global__ void count_heads(const int* __restrict__ ptr_a,
                                       const int* __restrict__ row_of, const int* __restrict__ col,
                                       int* __restrict__ sums, int* __restrict__ place, int room,
                                       int b_len) {
  __shared__ int counts[32];
  const int begin = blockIdx.x * 512 + threadIdx.x * 16, end = min(begin + 16, room);
  int count = 0;
  for (int i = begin; i < end; ++i) {
    count += is_head(ptr_a, row_of, col, i, b_len) ? 1 : 0;
  }
  counts[threadIdx.x] = count;
  __syncthreads();
  int before = 0;
  for (int thread = 0; thread < threadIdx.x; ++thread) {
    before += counts[thread];
  }
  if (threadIdx.x == 31) {
    sums[blockIdx.x] = before + count;
  }
  for (int i = begin; i < end; ++i) {
    place[i] = before;
    before += is_head(ptr_a, row_of, col, i, b_len) ? 1 : 0;
  }
}

extern "C" __global__ void add_sums(int* sums, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    const int more = sums[i];
    sums[i] = sum;
    sum += more;
  }
  sums[count] = sum;
}

extern "C" __global__ void write(const int* __restrict__ ptr_a, const int* __restrict__ row_of,
                                 const int* __restrict__ col, const float* __restrict__ val,
                                 const int* __restrict__ sums, const int* __restrict__ place,
                                 int* __restrict__ col_c, float* __restrict__ val_c, int room,
                                 int b_len) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= room || !is_head(ptr_a, row_of, col, i, b_len)) {
    return;
  }
  const int end = ptr_a[row_of[i / b_len] + 1] * b_len;
  float sum = 0.0f;
  for (int j = i; j < end && col[j] == col[i]; ++j) {
    sum += val[j];
  }
  const int at = sums[i / 512] + place[i];
  col_c[at] = col[i];
  val_c[at] = sum;
}

extern "C" __global__ void write_rows(const int* __restrict__ ptr_a, const int* __restrict__ sums,
                                      const int* __restrict__ place, int* __restrict__ ptr_c,
                                      int rows, int room, int b_len) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row <= rows) {
    const int i = ptr_a[row] * b_len;
    ptr_c[row] = i < room ? sums[i / 512] + place[i] : sums[(room + 511) / 512];
  }
}
