/*@winnow
{
  "scratch": { "rows": { "dtype": "f8e4m3", "count": "k * n" } },
  "launches": [
    { "kernel": "transpose", "grid": ["ceil_div(n, 128)", "k"], "block": [128],
      "args": ["b", "rows", "n", "k"] },
    { "kernel": "gemm_reference", "grid": ["ceil_div(n, 128)", "m"], "block": [128],
      "args": ["a", "rows", "c", "c_magnitude", "scale_a", "scale_b", "m", "n", "k"] }
  ]
}
@*/
#include <cuda_fp8.h>

// So that neighbouring threads of gemm_reference() read neighbouring elements.
extern "C" __global__ void transpose(const __nv_fp8_e4m3* b, __nv_fp8_e4m3* rows, long long n,
                                     long long k) {
  const long long p = blockIdx.y, column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column < n) {
    rows[p * n + column] = b[column * k + p];
  }
}

// A Hopper GPU keeps some 14 bits of a sum of fp8 products (DeepSeek-V3 Technical Report, section
// 3.3.2): task.toml allows for that.
extern "C" __global__ void gemm_reference(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* rows,
                                          double* c, double* magnitude, float scale_a,
                                          float scale_b, long long m, long long n, long long k) {
  const long long row = blockIdx.y;
  const long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (column < n) {
    const double scale = (double)scale_a * scale_b;
    double sum = 0, block = 0, size = 0;
    for (long long p = 0; p < k; ++p) {
      const double product =
          NARROW(product, (double)(float)a[row * k + p] * (double)(float)rows[p * n + column]);
      block += product;
      size += fabs(product);
      if (p % 32 == 31 || p + 1 == k) { // a block that a kernel adds up first
        sum += NARROW(partial_sum, block);
        block = 0;
      }
    }
    c[row * n + column] = scale * sum;
    magnitude[row * n + column] = scale * size;
  }
}
