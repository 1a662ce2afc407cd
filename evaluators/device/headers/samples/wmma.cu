// D = A x B + C for one tile by one warp, in each combination of types that wmma has.
#include <mma.h>

using namespace nvcuda;

template <class T, class D, class Stored, int M, int N, int K, class LayoutA, class LayoutB>
static __device__ void multiply(const Stored* a, const Stored* b, const D* c, D* d) {
  constexpr bool a_rows = std::is_same<LayoutA, wmma::row_major>::value;
  constexpr bool b_rows = std::is_same<LayoutB, wmma::row_major>::value;
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, D> fc;
  wmma::fragment<wmma::accumulator, M, N, K, D> fd;
  wmma::load_matrix_sync(fa, a, a_rows ? K : M);
  wmma::load_matrix_sync(fb, b, b_rows ? N : K);
  wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
  wmma::fill_fragment(fd, D(0));
  wmma::mma_sync(fd, fa, fb, fd);
  for (int i = 0; i < fd.num_elements; ++i) {
    fd.x[i] = fd.x[i] + fc.x[i];
  }
  wmma::store_matrix_sync(d, fd, M, wmma::mem_col_major);
}

__global__ void half_float(const half* a, const half* b, const float* c, float* d) {
  multiply<half, float, half, 16, 16, 16, wmma::row_major, wmma::col_major>(a, b, c, d);
}
__global__ void half_half(const half* a, const half* b, const half* c, half* d) {
  multiply<half, half, half, 32, 8, 16, wmma::col_major, wmma::row_major>(a, b, c, d);
}
__global__ void bfloat16_float(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* c,
                               float* d) {
  multiply<__nv_bfloat16, float, __nv_bfloat16, 8, 32, 16, wmma::row_major, wmma::row_major>(a, b,
                                                                                             c, d);
}
__global__ void tf32_float(const float* a, const float* b, const float* c, float* d) {
  multiply<wmma::precision::tf32, float, float, 16, 16, 8, wmma::col_major, wmma::col_major>(a, b,
                                                                                             c, d);
}
__global__ void bytes_int(const signed char* a, const signed char* b, const int* c, int* d) {
  multiply<signed char, int, signed char, 16, 16, 16, wmma::row_major, wmma::row_major>(a, b, c, d);
}
__global__ void double_double(const double* a, const double* b, const double* c, double* d) {
  multiply<double, double, double, 8, 8, 4, wmma::row_major, wmma::col_major>(a, b, c, d);
}
