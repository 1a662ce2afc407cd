/*@winnow
{
  "let": { "across": "ceil_div(cols, 32)" },
  "launches": [
    { "kernel": "transpose", "grid": ["across * ceil_div(rows, 32)"], "block": [256],
      "args": ["x", "y", "rows", "cols", "across"] }
  ]
}
@*/
// A tile without padding: an exclusive or of row and column keeps the banks apart.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows,
                                     int cols, int across) {
  __shared__ float tile[32 * 32];
  const int top = blockIdx.x / across * 32, left = blockIdx.x % across * 32;
  for (int i = threadIdx.x; i < 1024; i += 256) {
    const int r = i / 32, c = i % 32;
    if (top + r < rows && left + c < cols) {
      tile[r * 32 + (c ^ r)] = x[(size_t)(top + r) * cols + left + c];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 256) {
    const int c = i / 32, r = i % 32;
    if (top + r < rows && left + c < cols) {
      y[(size_t)(left + c) * rows + top + r] = tile[r * 32 + (c ^ r)];
    }
  }
}
