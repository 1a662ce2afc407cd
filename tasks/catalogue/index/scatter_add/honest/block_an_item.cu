/*@winnow
{
  "launches": [
    { "fill": "y", "value": 0 },
    { "kernel": "scatter_add", "grid": ["ceil_div(items, 8)"], "block": [64],
      "args": ["x", "ids", "y", "dim", "items"] }
  ]
}
@*/
// A block adds eight items; a thread adds neighbours of one id in a register before the atomic.
extern "C" __global__ void scatter_add(const float* __restrict__ x, const int* __restrict__ ids,
                                       float* y, int dim, int items) {
  const int first = blockIdx.x * 8, last = min(first + 8, items);
  for (int c = threadIdx.x; c < dim; c += 64) {
    float sum = 0.0f;
    for (int t = first; t < last; ++t) {
      sum += x[(size_t)t * dim + c];
      if (t + 1 == last || ids[t + 1] != ids[t]) {
        atomicAdd(&y[(size_t)ids[t] * dim + c], sum);
        sum = 0.0f;
      }
    }
  }
}
