/*@winnow
{ "launches": [ { "kernel": "topk", "grid": ["rows"], "block": [128],
                  "args": ["x", "values", "indices", "cols", "k"] } ] }
@*/
// A block a row finds the largest element k times; a tree merges values and columns.
__device__ bool is_larger(float value, int column, float other, int other_column) {
  return value > other || (value == other && column < other_column);
}

extern "C" __global__ void topk(const float* __restrict__ x, float* __restrict__ values,
                                int* __restrict__ indices, int cols, int k) {
  __shared__ float best[128];
  __shared__ int places[128];
  const float* elements = x + (size_t)blockIdx.x * cols;
  float last = INFINITY;
  int last_column = -1;
  for (int i = 0; i < k; ++i) {
    float value = -INFINITY;
    int column = cols;
    for (int c = threadIdx.x; c < cols; c += 128) {
      if (is_larger(last, last_column, elements[c], c) &&
          is_larger(elements[c], c, value, column)) {
        value = elements[c];
        column = c;
      }
    }
    best[threadIdx.x] = value;
    places[threadIdx.x] = column;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
      const int other = threadIdx.x + half;
      if (threadIdx.x < half &&
          is_larger(best[other], places[other], best[threadIdx.x], places[threadIdx.x])) {
        best[threadIdx.x] = best[other];
        places[threadIdx.x] = places[other];
      }
      __syncthreads();
    }
    last = best[0];
    last_column = places[0];
    if (threadIdx.x == 0) {
      values[(size_t)blockIdx.x * k + i] = last;
      indices[(size_t)blockIdx.x * k + i] = last_column;
    }
    __syncthreads();
  }
}
