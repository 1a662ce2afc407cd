/*@winnow
{
  "let": { "room": "16 + 6 * k" },
  "scratch": { "candidates": { "dtype": "i32", "count": "rows * room" } },
  "launches": [
    { "kernel": "topk", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["x", "candidates", "values", "indices", "rows", "cols", "k", "room"] }
  ]
}
@*/
// Wrong: has room for 16 + 6 k candidates. The columns form k groups, and a candidate is at least
// as large as the smallest maximum of a group: some k log(k) elements, but more if many are equal.
__device__ float lower_bound(const float* values, int cols, int k) {
  float bound = INFINITY;
  for (int group = 0; group < k; ++group) {
    float largest = values[group];
    for (int c = group + k; c < cols; c += k) {
      largest = fmaxf(largest, values[c]);
    }
    bound = fminf(bound, largest);
  }
  return bound;
}

__device__ bool is_before(int column, int other, const float* values) {
  return values[column] > values[other] || (values[column] == values[other] && column < other);
}

extern "C" __global__ void topk(const float* x, int* candidates, float* values, int* indices,
                                int rows, int cols, int k, int room) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  const float* elements = x + (size_t)row * cols;
  const float bound = lower_bound(elements, cols, k);
  int* list = candidates + (size_t)row * room;
  int count = 0; // from the last column on
  for (int c = cols - 1; c >= 0; --c) {
    if (elements[c] >= bound && count < room) {
      list[count++] = c;
    }
  }
  for (int i = 0; i < k; ++i) {
    int best = i;
    for (int j = i + 1; j < count; ++j) {
      best = is_before(list[j], list[best], elements) ? j : best;
    }
    const int column = list[best];
    list[best] = list[i];
    list[i] = column;
    values[(size_t)row * k + i] = elements[column];
    indices[(size_t)row * k + i] = column;
  }
}
