/*@winnow
{ "launches": [ { "kernel": "transpose", "grid": ["ceil_div(rows * cols, 128)"], "block": [128],
                  "args": ["x", "y", "rows", "cols", "rows * cols"] } ] }
@*/
// One element a thread in the order of x: coalesced reads, scattered writes.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows,
                                     int cols, long long count) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < count) {
    y[i % cols * rows + i / cols] = x[i];
  }
}
