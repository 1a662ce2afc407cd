/*@winnow
{
  "scratch": { "ends": { "dtype": "i32", "count": "rows" },
               "order": { "dtype": "i32", "count": "items" } },
  "launches": [
    { "fill": "ends", "value": 0 },
    { "kernel": "count_items", "grid": ["ceil_div(items, 256)"], "block": [256],
      "args": ["ids", "ends", "items"] },
    { "kernel": "begin_rows", "grid": 1, "block": [256], "args": ["ends", "rows"] },
    { "kernel": "place_items", "grid": ["ceil_div(items, 256)"], "block": [256],
      "args": ["ids", "ends", "order", "items"] },
    { "kernel": "add_rows", "grid": ["ceil_div(rows, 4)"], "block": [32, 4],
      "args": ["x", "ends", "order", "y", "rows", "dim"] }
  ]
}
@*/
// Items are sorted by their ids; then a warp adds the items of a row, column by column.
extern "C" __global__ void count_items(const int* __restrict__ ids, int* ends, int items) {
  const int t = blockIdx.x * 256 + threadIdx.x;
  if (t < items) {
    atomicAdd(&ends[ids[t]], 1);
  }
}

// Turns the count of each row into the place of its first item.
extern "C" __global__ void begin_rows(int* ends, int rows) {
  __shared__ int sums[256];
  const int each = (rows + 255) / 256;
  const int first = min(rows, (int)threadIdx.x * each), last = min(rows, first + each);
  int sum = 0;
  for (int row = first; row < last; ++row) {
    sum += ends[row];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  int before = 0;
  for (int thread = 0; thread < threadIdx.x; ++thread) {
    before += sums[thread];
  }
  for (int row = first; row < last; ++row) {
    const int count = ends[row];
    ends[row] = before;
    before += count;
  }
}

// Afterwards ends[row] is the end of the row's items, and so the begin of the next row's.
extern "C" __global__ void place_items(const int* __restrict__ ids, int* ends, int* order,
                                       int items) {
  const int t = blockIdx.x * 256 + threadIdx.x;
  if (t < items) {
    order[atomicAdd(&ends[ids[t]], 1)] = t;
  }
}

extern "C" __global__ void add_rows(const float* __restrict__ x, const int* __restrict__ ends,
                                    const int* __restrict__ order, float* __restrict__ y, int rows,
                                    int dim) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= rows) {
    return;
  }
  const int first = row > 0 ? ends[row - 1] : 0;
  for (int c = threadIdx.x; c < dim; c += 32) {
    float sum = 0.0f;
    for (int i = first; i < ends[row]; ++i) {
      sum += x[(size_t)order[i] * dim + c];
    }
    y[(size_t)row * dim + c] = sum;
  }
}
