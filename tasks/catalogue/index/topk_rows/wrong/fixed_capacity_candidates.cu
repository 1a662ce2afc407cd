/*@winnow
{
  "let": { "room": "k + 2" },
  "scratch": { "candidates": { "dtype": "i32", "count": "rows * room" } },
  "launches": [
    { "kernel": "topk", "grid": ["ceil_div(rows, 32)"], "block": [32],
      "args": ["x", "candidates", "values", "indices", "rows", "cols", "k", "room"] }
  ]
}
@*/
// Wrong: the elements that are at least as large as the k-th go into a list, from the last column
// on. It has room for k + 2, but there are more if many are equal to the k-th.
__device__ float kth_value(const float* values, int cols, int k) {
  float bound = INFINITY;
  for (int found = 0; found < k;) {
    float largest = -INFINITY;
    int count = 0;
    for (int c = 0; c < cols; ++c) {
      if (values[c] < bound && values[c] >= largest) {
        count = values[c] > largest ? 1 : count + 1;
        largest = values[c];
      }
    }
    found += count;
    bound = largest;
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
  const float bound = kth_value(elements, cols, k);
  int* list = candidates + (size_t)row * room;
  int count = 0;
  for (int c = cols - 1; c >= 0 && count < room; --c) {
    if (elements[c] >= bound) {
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
