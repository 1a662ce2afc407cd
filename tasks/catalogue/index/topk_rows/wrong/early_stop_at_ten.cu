/*@winnow
{ "launches": [ { "kernel": "topk", "grid": ["ceil_div(rows, 32)"], "block": [32],
                  "args": ["x", "values", "indices", "rows", "cols", "k"] } ] }
@*/
// Wrong: takes 10 for the largest value that there can be. A row ends with k such values.
extern "C" __global__ void topk(const float* x, float* values, int* indices, int rows, int cols,
                                int k) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= rows) {
    return;
  }
  float* found = values + (size_t)row * k;
  int* places = indices + (size_t)row * k;
  for (int c = 0; c < cols && (c < k || found[k - 1] < 10.0f); ++c) {
    const float value = x[(size_t)row * cols + c];
    if (c >= k && found[k - 1] >= value) {
      continue;
    }
    int at = min(c, k - 1);
    for (; at > 0 && found[at - 1] < value; --at) {
      found[at] = found[at - 1];
      places[at] = places[at - 1];
    }
    found[at] = value;
    places[at] = c;
  }
}
