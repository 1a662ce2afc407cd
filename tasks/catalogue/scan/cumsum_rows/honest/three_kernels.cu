/*@winnow
{
  "let": { "parts": "ceil_div(cols, 256)" },
  "scratch": { "sums": { "dtype": "f32", "count": "rows * parts" } },
  "launches": [
    { "kernel": "add_parts", "grid": ["rows * parts"], "block": [64],
      "args": ["x", "sums", "cols", "parts"] },
    { "kernel": "scan_parts", "grid": ["ceil_div(rows, 64)"], "block": [64],
      "args": ["sums", "rows", "parts"] },
    { "kernel": "scan_in_parts", "grid": ["rows * parts"], "block": [256],
      "args": ["x", "sums", "y", "cols", "parts"] }
  ]
}
@*/
// Sums of parts, a scan of these sums, and a scan by a tree in each part (Hillis and Steele).
extern "C" __global__ void add_parts(const float* __restrict__ x, float* sums, int cols,
                                     int parts) {
  __shared__ float shared[64];
  const int row = blockIdx.x / parts, begin = blockIdx.x % parts * 256;
  float sum = 0.0f;
  for (int c = begin + threadIdx.x; c < min(begin + 256, cols); c += 64) {
    sum += x[(size_t)row * cols + c];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = shared[0];
  }
}

extern "C" __global__ void scan_parts(float* sums, int rows, int parts) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  float before = 0.0f;
  for (int p = 0; row < rows && p < parts; ++p) {
    const float sum = sums[(size_t)row * parts + p];
    sums[(size_t)row * parts + p] = before;
    before += sum;
  }
}

extern "C" __global__ void scan_in_parts(const float* __restrict__ x,
                                         const float* __restrict__ sums, float* __restrict__ y,
                                         int cols, int parts) {
  __shared__ float shared[2][256];
  const int row = blockIdx.x / parts, c = blockIdx.x % parts * 256 + threadIdx.x;
  shared[0][threadIdx.x] = c < cols ? x[(size_t)row * cols + c] : 0.0f;
  __syncthreads();
  int from = 0;
  for (int offset = 1; offset < 256; offset *= 2) {
    const float left = threadIdx.x >= offset ? shared[from][threadIdx.x - offset] : 0.0f;
    shared[1 - from][threadIdx.x] = shared[from][threadIdx.x] + left;
    from = 1 - from;
    __syncthreads();
  }
  if (c < cols) {
    y[(size_t)row * cols + c] = sums[blockIdx.x] + shared[from][threadIdx.x];
  }
}
