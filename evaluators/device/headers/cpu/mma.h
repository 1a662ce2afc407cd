// nvcuda::wmma on the CPU. A fragment is spread over the 32 lanes of a warp like this: with the
// matrix in row-major order (rows x columns: A is M x K, B is K x N, C is M x N), lane l owns
// elements [l * num_elements, (l + 1) * num_elements). x[] may be used element by element, as on a
// GPU, where the layout is unspecified. Products are summed over k in order, in float for half,
// bfloat16 and tf32, in the accumulator's type for int and double.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct winnow_sub_byte;
using u4 = winnow_sub_byte;
using s4 = winnow_sub_byte;
using b1 = winnow_sub_byte;
} // namespace precision
} // namespace experimental

template <class T> struct WinnowElement { using Type = T; };
template <> struct WinnowElement<precision::tf32> { using Type = float; };

// What products are summed in.
template <class T> struct WinnowSum { using Type = float; };
template <> struct WinnowSum<int> { using Type = int; };
template <> struct WinnowSum<double> { using Type = double; };

template <class Use, int M, int N, int K> struct WinnowShape;
template <int M, int N, int K> struct WinnowShape<matrix_a, M, N, K> {
  static constexpr int rows = M, columns = K;
};
template <int M, int N, int K> struct WinnowShape<matrix_b, M, N, K> {
  static constexpr int rows = K, columns = N;
};
template <int M, int N, int K> struct WinnowShape<accumulator, M, N, K> {
  static constexpr int rows = M, columns = N;
};

template <class Use, int M, int N, int K, class T, class Layout = void> class fragment {
public:
  static_assert(!__is_same(T, experimental::precision::winnow_sub_byte),
                "winnow-unsupported: wmma with 4-bit or 1-bit elements");
  static_assert((M == 16 && N == 16 && (K == 16 || K == 8)) || (M == 32 && N == 8 && K == 16) ||
                    (M == 8 && N == 32 && K == 16) || (M == 8 && N == 8 && K == 4),
                "not a shape of wmma: 16x16x16, 32x8x16, 8x32x16, 16x16x8 (tf32), 8x8x4 (double)");
  using Shape = WinnowShape<Use, M, N, K>;
  using element_type = typename WinnowElement<T>::Type;
  using storage_element_type = element_type;
  static constexpr int num_elements = Shape::rows * Shape::columns / 32;
  static constexpr int num_storage_elements = num_elements;

  element_type x[num_elements];
};

inline float __float_to_tf32(float v) { // round to nearest, ties away, as cvt.rna does
  const unsigned bits = __float_as_uint(v);
  return isfinite(v) ? __uint_as_float((bits + 0x1000u) & 0xffffe000u) : v;
}

template <class Use, int M, int N, int K, class T, class Layout, class V>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const V& value) {
  using Element = typename WinnowElement<T>::Type;
  for (int i = 0; i < f.num_elements; ++i) {
    f.x[i] = Element(value);
  }
}

template <class Fragment, class Access>
inline void winnow_each_element(const Fragment&, Access access) {
  for (int i = 0; i < Fragment::num_elements; ++i) {
    const int at = int(winnow_lane()) * Fragment::num_elements + i;
    access(i, at / Fragment::Shape::columns, at % Fragment::Shape::columns);
  }
}

// All lanes of the warp meet here, as on a GPU: what a lane stored before is visible after.
template <class Use, int M, int N, int K, class T, class Layout, class P>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const P* p, unsigned ld,
                             int line = __builtin_LINE()) {
  winnow_exchange(0xffffffffu, 0, WinnowOpFirstFree, "wmma::load_matrix_sync", line);
  constexpr bool by_row = __is_same(Layout, row_major);
  winnow_each_element(f, [&](int i, int row, int column) {
    f.x[i] = p[by_row ? size_t(row) * ld + size_t(column) : size_t(column) * ld + size_t(row)];
  });
}
template <int M, int N, int K, class T, class P>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const P* p, unsigned ld,
                             layout_t layout, int line = __builtin_LINE()) {
  winnow_exchange(0xffffffffu, 0, WinnowOpFirstFree, "wmma::load_matrix_sync", line);
  winnow_each_element(f, [&](int i, int row, int column) {
    f.x[i] = p[layout == mem_row_major ? size_t(row) * ld + size_t(column)
                                       : size_t(column) * ld + size_t(row)];
  });
}
template <int M, int N, int K, class T, class P>
inline void store_matrix_sync(P* p, const fragment<accumulator, M, N, K, T>& f, unsigned ld,
                              layout_t layout, int line = __builtin_LINE()) {
  winnow_each_element(f, [&](int i, int row, int column) {
    p[layout == mem_row_major ? size_t(row) * ld + size_t(column)
                              : size_t(column) * ld + size_t(row)] = f.x[i];
  });
  winnow_exchange(0xffffffffu, 0, WinnowOpFirstFree + 1, "wmma::store_matrix_sync", line);
}

// The whole matrix of a fragment, put together from all lanes, 8 bytes a lane and round.
template <class Fragment>
inline void winnow_collect(const Fragment& f, typename Fragment::element_type* all, int line) {
  constexpr int bytes = int(sizeof f.x);
  static_assert(bytes % 4 == 0, "fragments are whole words");
  for (int at = 0; at < bytes; at += 8) {
    const int part = bytes - at < 8 ? bytes - at : 8;
    unsigned long long word = 0;
    __builtin_memcpy(&word, reinterpret_cast<const char*>(f.x) + at, size_t(part));
    const WinnowGather* lanes =
        winnow_exchange(0xffffffffu, word, WinnowOpFirstFree + 2, "wmma::mma_sync", line);
    for (int lane = 0; lane < 32; ++lane) {
      __builtin_memcpy(reinterpret_cast<char*>(all) + lane * bytes + at, &lanes->values[lane],
                       size_t(part));
    }
  }
}

template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
inline void mma_sync(fragment<accumulator, M, N, K, D>& d,
                     const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                     const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                     const fragment<accumulator, M, N, K, C>& c, bool /*saturate*/ = false,
                     int line = __builtin_LINE()) {
  using Element = typename WinnowElement<T>::Type;
  using Sum = typename WinnowSum<D>::Type;
  Element all_a[M * K];
  Element all_b[K * N];
  winnow_collect(a, all_a, line);
  winnow_collect(b, all_b, line);
  // A lane's elements lie in one row, next to each other.
  constexpr int count = fragment<accumulator, M, N, K, D>::num_elements;
  const int row = int(winnow_lane()) * count / N;
  const int column = int(winnow_lane()) * count % N;
  Sum sums[count];
  for (int i = 0; i < count; ++i) {
    sums[i] = Sum(c.x[i]);
  }
  for (int k = 0; k < K; ++k) {
    const Sum left = Sum(all_a[row * K + k]);
    for (int i = 0; i < count; ++i) {
      sums[i] += left * Sum(all_b[k * N + column + i]);
    }
  }
  for (int i = 0; i < count; ++i) {
    d.x[i] = D(sums[i]);
  }
}

} // namespace wmma
} // namespace nvcuda
