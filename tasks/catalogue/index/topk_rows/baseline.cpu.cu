/*@winnow
{
  "params": { "ROWS": [4, 1, 16] },
  "launches": [
    { "kernel": "topk<{ROWS}>", "grid": ["ceil_div(rows, ROWS)"], "block": [1],
      "args": ["x", "values", "indices", "rows", "cols", "k"] }
  ]
}
@*/
// A block is one thread with a few rows. The best k so far are in order in the output; most
// elements are no larger than the last of them, and the others are inserted.
template <int ROWS>
__global__ void topk(const float* __restrict__ x, float* __restrict__ values,
                     int* __restrict__ indices, int rows, int cols, int k) {
  for (int row = blockIdx.x * ROWS; row < min((int)(blockIdx.x + 1) * ROWS, rows); ++row) {
    const float* elements = x + (size_t)row * cols;
    float* best = values + (size_t)row * k;
    int* columns = indices + (size_t)row * k;
    int found = 0;
    for (int c = 0; c < cols; ++c) {
      const float value = elements[c];
      if (found == k && !(value > best[k - 1])) {
        continue;
      }
      found += found < k ? 1 : 0;
      int at = found - 1;
      for (; at > 0 && value > best[at - 1]; --at) {
        best[at] = best[at - 1];
        columns[at] = columns[at - 1];
      }
      best[at] = value;
      columns[at] = c;
    }
  }
}
