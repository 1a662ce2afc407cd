// Integer, bit and conversion intrinsics.
#pragma once
#include "winnow_math.h"

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = ((x & 0x55555555U) << 1) | ((x >> 1) & 0x55555555U);
  x = ((x & 0x33333333U) << 2) | ((x >> 2) & 0x33333333U);
  x = ((x & 0x0f0f0f0fU) << 4) | ((x >> 4) & 0x0f0f0f0fU);
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return (static_cast<unsigned long long>(__brev(unsigned(x))) << 32) | __brev(unsigned(x >> 32));
}
// Position of the set bit number `offset` counted from `base` (offset < 0: downwards), or ~0.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  const int step = offset < 0 ? -1 : 1;
  int left = offset == 0 ? 1 : offset * step;
  for (int bit = int(base); bit >= 0 && bit < 32; bit += step) {
    if (((mask >> bit) & 1U) != 0 && --left == 0) {
      return unsigned(bit);
    }
    if (offset == 0) {
      break;
    }
  }
  return 0xffffffffU;
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(high) << 32) | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = (selector >> (4 * i)) & 15U;
    unsigned byte = unsigned(bytes >> (8 * (pick & 7U))) & 255U;
    if ((pick & 8U) != 0) { // replicate the sign
      byte = (byte & 128U) != 0 ? 255U : 0U;
    }
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return unsigned((both << (shift & 31U)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = (static_cast<unsigned long long>(high) << 32) | low;
  return unsigned(both >> (shift & 31U));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

inline int __mulhi(int a, int b) { return int((static_cast<long long>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return unsigned((static_cast<unsigned long long>(a) * b) >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline int __mul24(int a, int b) {
  const auto low = [](int x) { return int(unsigned(x) << 8) >> 8; };
  return int(unsigned(low(a)) * unsigned(low(b)));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffU) * (b & 0xffffffU); }
inline unsigned __sad(int a, int b, unsigned c) {
  return c + (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
inline int __hadd(int a, int b) { return int((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) { return int((static_cast<long long>(a) + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
  return unsigned((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
  return unsigned((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

// Dot products of bytes (dp4a) and of shorts with bytes (dp2a).
template <class A, class B, class C> inline C winnow_dp4a(unsigned a, unsigned b, C c) {
  for (int i = 0; i < 4; ++i) {
    c = C(unsigned(c) + unsigned(int(A(a >> (8 * i))) * int(B(b >> (8 * i)))));
  }
  return c;
}
template <class A, class B, class C> inline C winnow_dp2a(unsigned a, unsigned b, C c) {
  for (int i = 0; i < 2; ++i) {
    c = C(unsigned(c) + unsigned(int(A(a >> (16 * i))) * int(B(b >> (8 * i)))));
  }
  return c;
}
inline int __dp4a(int a, int b, int c) {
  return winnow_dp4a<signed char, signed char>(unsigned(a), unsigned(b), c);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return winnow_dp4a<unsigned char, unsigned char>(a, b, c);
}
inline int __dp2a_lo(int a, int b, int c) {
  return winnow_dp2a<short, signed char>(unsigned(a), unsigned(b), c);
}
inline int __dp2a_hi(int a, int b, int c) {
  return winnow_dp2a<short, signed char>(unsigned(a), unsigned(b) >> 16, c);
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return winnow_dp2a<unsigned short, unsigned char>(a, b, c);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return winnow_dp2a<unsigned short, unsigned char>(a, b >> 16, c);
}
inline int __dp4a(char4 a, char4 b, int c) {
  return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + unsigned(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}

// SIMD in a register: four bytes (4) or two shorts (2).
template <class T, class Op> inline unsigned winnow_simd(unsigned a, unsigned b, Op op) {
  constexpr unsigned bits = 8 * sizeof(T);
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += bits) {
    const unsigned mask = (1U << bits) - 1U;
    result |= (unsigned(op(int(T(a >> shift)), int(T(b >> shift)))) & mask) << shift;
  }
  return result;
}
#define WINNOW_SIMD(name, T, expression)                                                           \
  inline unsigned name(unsigned a, unsigned b) {                                                   \
    return winnow_simd<T>(a, b, [](int x, int y) { return expression; });                          \
  }
WINNOW_SIMD(__vadd4, unsigned char, x + y)
WINNOW_SIMD(__vadd2, unsigned short, x + y)
WINNOW_SIMD(__vsub4, unsigned char, x - y)
WINNOW_SIMD(__vsub2, unsigned short, x - y)
WINNOW_SIMD(__vmaxs4, signed char, x > y ? x : y)
WINNOW_SIMD(__vmaxs2, short, x > y ? x : y)
WINNOW_SIMD(__vmaxu4, unsigned char, x > y ? x : y)
WINNOW_SIMD(__vmaxu2, unsigned short, x > y ? x : y)
WINNOW_SIMD(__vmins4, signed char, x < y ? x : y)
WINNOW_SIMD(__vmins2, short, x < y ? x : y)
WINNOW_SIMD(__vminu4, unsigned char, x < y ? x : y)
WINNOW_SIMD(__vminu2, unsigned short, x < y ? x : y)
WINNOW_SIMD(__vcmpeq4, unsigned char, x == y ? -1 : 0)
WINNOW_SIMD(__vcmpeq2, unsigned short, x == y ? -1 : 0)
WINNOW_SIMD(__vcmpne4, unsigned char, x != y ? -1 : 0)
WINNOW_SIMD(__vcmpgts4, signed char, x > y ? -1 : 0)
WINNOW_SIMD(__vcmpgtu4, unsigned char, x > y ? -1 : 0)
WINNOW_SIMD(__vabsdiffu4, unsigned char, x > y ? x - y : y - x)
#undef WINNOW_SIMD
inline unsigned __vsubss4(unsigned a, unsigned b) {
  return winnow_simd<signed char>(a, b, [](int x, int y) { return max(-128, min(127, x - y)); });
}
inline unsigned __vaddss4(unsigned a, unsigned b) {
  return winnow_simd<signed char>(a, b, [](int x, int y) { return max(-128, min(127, x + y)); });
}
inline unsigned __vaddus4(unsigned a, unsigned b) {
  return winnow_simd<unsigned char>(a, b, [](int x, int y) { return min(255, x + y); });
}

template <class To, class From> inline To winnow_bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit casts keep the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
inline int __float_as_int(float x) { return winnow_bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return winnow_bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return winnow_bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return winnow_bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return winnow_bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return winnow_bit_cast<double>(x); }
inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return int(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      (static_cast<unsigned long long>(unsigned(high)) << 32) | unsigned(low)));
}

// A GPU clamps what does not fit and turns NaN into 0 (64-bit: the lowest value's bits).
template <class T> inline T winnow_to_integer(double x) {
  constexpr bool is_signed = T(-1) < T(0);
  constexpr int bits = 8 * int(sizeof(T)) - (is_signed ? 1 : 0);
  constexpr double end = double(1ULL << (bits - 1)) * 2.0;
  constexpr T low = is_signed ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
  if (!(x == x)) {
    return sizeof(T) == 8 ? T(1ULL << 63) : T(0);
  }
  if (x >= end) {
    return T(~low);
  }
  return x < double(low) ? low : T(x);
}
#define WINNOW_TO_INTEGER(T, name)                                                                 \
  inline T __float2##name##_rz(float x) { return winnow_to_integer<T>(double(x)); }                \
  inline T __float2##name##_rn(float x) { return winnow_to_integer<T>(rint(double(x))); }          \
  inline T __float2##name##_rd(float x) { return winnow_to_integer<T>(floor(double(x))); }         \
  inline T __float2##name##_ru(float x) { return winnow_to_integer<T>(ceil(double(x))); }          \
  inline T __double2##name##_rz(double x) { return winnow_to_integer<T>(x); }                      \
  inline T __double2##name##_rn(double x) { return winnow_to_integer<T>(rint(x)); }                \
  inline T __double2##name##_rd(double x) { return winnow_to_integer<T>(floor(x)); }               \
  inline T __double2##name##_ru(double x) { return winnow_to_integer<T>(ceil(x)); }
WINNOW_TO_INTEGER(int, int)
WINNOW_TO_INTEGER(unsigned, uint)
WINNOW_TO_INTEGER(long long, ll)
WINNOW_TO_INTEGER(unsigned long long, ull)
#undef WINNOW_TO_INTEGER

inline double __int2double_rn(int x) { return double(x); }
inline double __uint2double_rn(unsigned x) { return double(x); }
inline double __ll2double_rn(long long x) { return double(x); }
inline double __ull2double_rn(unsigned long long x) { return double(x); }
inline float __int2float_rn(int x) { return float(x); }
inline float __int2float_rz(int x) { return winnow_round_zero(double(x)); }
inline float __int2float_rd(int x) { return winnow_round_down(double(x)); }
inline float __int2float_ru(int x) { return winnow_round_up(double(x)); }
inline float __uint2float_rn(unsigned x) { return float(x); }
inline float __uint2float_rz(unsigned x) { return winnow_round_zero(double(x)); }
inline float __uint2float_rd(unsigned x) { return winnow_round_down(double(x)); }
inline float __uint2float_ru(unsigned x) { return winnow_round_up(double(x)); }
inline float __ll2float_rn(long long x) { return float(x); }
inline float __ull2float_rn(unsigned long long x) { return float(x); }

// Address spaces: one address space here.
inline size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<size_t>(p); }
inline size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<size_t>(p); }
inline void* __cvta_shared_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
