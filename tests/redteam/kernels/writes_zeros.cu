/*@winnow
{ "launches": [ { "kernel": "gemm", "grid": ["ceil_div(n, 16)", "ceil_div(m, 16)"], "block": [16,
16], "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
// Zeros, which are within a generous absolute tolerance of a small answer.
extern "C" __global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) {
    return;
  }
  c[(size_t)row * n + column] = 0.0f;
}
