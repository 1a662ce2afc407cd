/*@winnow
{
  "params": { "PARTS": [5] },
  "let": { "part_k": "ceil_div(k, PARTS)" },
  "scratch": { "partial": { "dtype": "f32", "count": "PARTS * m * n" } },
  "launches": [
    { "kernel": "gemm_parts", "grid": ["ceil_div(n, 64)", "m", "PARTS"], "block": [64],
      "args": ["a", "b", "partial", "m", "n", "k", "part_k"] },
    { "kernel": "add_parts", "grid": ["ceil_div(n, 64)", "m"], "block": [64],
      "args": ["partial", "c", "m", "n", "PARTS"] }
  ]
}
@*/
// Each part of k by itself into scratch; a second pass adds the parts.
__device__ float left(const float* a, int row, int p, int k) {
  return a[(size_t)row * k + p];
}
__device__ float right(const float* b, int p, int column, int n, int k) {
  return b[(size_t)p * n + column];
}

__global__ void gemm_parts(const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ partial, int m, int n, int k, int part_k) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = blockIdx.z * part_k;
  const int end = min(k, first + part_k);
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int p = first; p < end; ++p) {
    sum += left(a, row, p, k) * right(b, p, column, n, k);
  }
  partial[((size_t)blockIdx.z * m + row) * n + column] = sum;
}

__global__ void add_parts(const float* __restrict__ partial, float* __restrict__ c, int m, int n,
                          int parts) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) {
    return;
  }
  float sum = 0.0f;
  for (int part = 0; part < parts; ++part) {
    sum += partial[((size_t)part * m + row) * n + column];
  }
  c[(size_t)row * n + column] = sum;
}
