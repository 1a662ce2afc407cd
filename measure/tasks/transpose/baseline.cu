/*@winnow
{ "launches": [ { "kernel": "transpose", "grid": ["ceil_div(w, 32)", "ceil_div(h, 32)"],
                  "block": [32, 8], "args": ["in", "out", "h", "w"] } ] }
@*/
// Rows of the tile are a word apart from a multiple of the banks: bound by memory bandwidth.
extern "C" __global__ void transpose(const float* in, float* out, int h, int w) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    const int row = blockIdx.y * 32 + k;
    tile[k][threadIdx.x] = row < h && column < w ? in[(long long)row * w + column] : 0.0f;
  }
  __syncthreads();
  const int row = blockIdx.y * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    const int out_row = blockIdx.x * 32 + k;
    if (out_row < w && row < h) {
      out[(long long)out_row * h + row] = tile[threadIdx.x][k];
    }
  }
}
