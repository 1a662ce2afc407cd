/*@winnow
{
  "params": { "BY": [8, 16, 4] },
  "let": { "across": "ceil_div(w, 32)", "tiles": "across * ceil_div(h, BY)" },
  "launches": [
    { "kernel": "depthwise<{BY}>", "grid": ["images * channels * tiles"], "block": [32, "BY"],
      "args": ["x", "weight", "y", "channels", "h", "w", "across", "tiles"] }
  ]
}
@*/
// A tile of a plane with its halo in shared memory, the nine weights in registers.
template <int BY>
__global__ void depthwise(const float* __restrict__ x, const float* __restrict__ weight,
                          float* __restrict__ y, int channels, int h, int w, int across,
                          int tiles) {
  __shared__ float tile[BY + 2][34];
  const int plane = blockIdx.x / tiles, index = blockIdx.x % tiles;
  const int top = index / across * BY, left = index % across * 32;
  const float* image = x + (size_t)plane * h * w;
  for (int t = threadIdx.y * 32 + threadIdx.x; t < (BY + 2) * 34; t += 32 * BY) {
    const int r = top + t / 34 - 1, c = left + t % 34 - 1;
    tile[t / 34][t % 34] = r >= 0 && r < h && c >= 0 && c < w ? image[(size_t)r * w + c] : 0.0f;
  }
  float factors[9];
  for (int i = 0; i < 9; ++i) {
    factors[i] = weight[plane % channels * 9 + i];
  }
  __syncthreads();
  const int row = top + threadIdx.y, column = left + threadIdx.x;
  if (row >= h || column >= w) {
    return;
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    sum += factors[i] * tile[threadIdx.y + i / 3][threadIdx.x + i % 3];
  }
  y[((size_t)plane * h + row) * w + column] = sum;
}
