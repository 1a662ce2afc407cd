/*@winnow
{ "launches": [ { "kernel": "argmax", "grid": ["rows"], "block": [128],
                  "args": ["x", "out", "cols"] } ] }
@*/
// Two passes: the maximum by a tree, then the smallest index that has it by an atomic minimum.
extern "C" __global__ void argmax(const float* __restrict__ x, int* __restrict__ out, int cols) {
  __shared__ float shared[128];
  __shared__ int first;
  const float* row = x + (size_t)blockIdx.x * cols;
  float largest = row[0];
  for (int c = threadIdx.x; c < cols; c += 128) {
    largest = fmaxf(largest, row[c]);
  }
  shared[threadIdx.x] = largest;
  if (threadIdx.x == 0) {
    first = cols;
  }
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += 128) {
    if (row[c] == shared[0]) {
      atomicMin(&first, c);
      break;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    out[blockIdx.x] = first;
  }
}
