// CUDA's device maths on the CPU: libm behind own prototypes, the overloads that CUDA C++ declares.
// Fast intrinsics are computed exactly: their error is allowed, not required.
#pragma once
#include "prelude.h"
#include "winnow_core.h"

// An integer argument means double, as in C++'s own overloads.
template <class T, bool = WinnowIsInteger<T>::value> struct WinnowPromote {};
template <class T> struct WinnowPromote<T, true> { using Double = double; };

#define WINNOW_UNARY(name)                                                                         \
  extern "C" double name(double) noexcept;                                                         \
  extern "C" float name##f(float) noexcept;                                                        \
  inline float name(float x) { return name##f(x); }                                                \
  template <class T> inline typename WinnowPromote<T>::Double name(T x) { return name(double(x)); }
WINNOW_UNARY(acos)
WINNOW_UNARY(acosh)
WINNOW_UNARY(asin)
WINNOW_UNARY(asinh)
WINNOW_UNARY(atan)
WINNOW_UNARY(atanh)
WINNOW_UNARY(cbrt)
WINNOW_UNARY(ceil)
WINNOW_UNARY(cos)
WINNOW_UNARY(cosh)
WINNOW_UNARY(erf)
WINNOW_UNARY(erfc)
WINNOW_UNARY(exp)
WINNOW_UNARY(exp2)
WINNOW_UNARY(expm1)
WINNOW_UNARY(fabs)
WINNOW_UNARY(floor)
WINNOW_UNARY(lgamma)
WINNOW_UNARY(log)
WINNOW_UNARY(log10)
WINNOW_UNARY(log1p)
WINNOW_UNARY(log2)
WINNOW_UNARY(logb)
WINNOW_UNARY(nearbyint)
WINNOW_UNARY(rint)
WINNOW_UNARY(round)
WINNOW_UNARY(sin)
WINNOW_UNARY(sinh)
WINNOW_UNARY(sqrt)
WINNOW_UNARY(tan)
WINNOW_UNARY(tanh)
WINNOW_UNARY(tgamma)
WINNOW_UNARY(trunc)
#undef WINNOW_UNARY

// Two arguments of different arithmetic types: float with an integer stays float, the rest is
// double.
template <class T> struct WinnowRank {
  static constexpr int value = WinnowIsInteger<T>::value ? 0 : -1;
};
template <> struct WinnowRank<float> { static constexpr int value = 1; };
template <> struct WinnowRank<double> { static constexpr int value = 2; };
template <int A, int B, bool = (A >= 0 && B >= 0 && A != B)> struct WinnowMix {};
template <int A, int B> struct WinnowMix<A, B, true> { using Type = double; };
template <> struct WinnowMix<0, 1, true> { using Type = float; };
template <> struct WinnowMix<1, 0, true> { using Type = float; };
template <class A, class B>
using WinnowMixed = typename WinnowMix<WinnowRank<A>::value, WinnowRank<B>::value>::Type;

#define WINNOW_MIXED(name)                                                                         \
  template <class A, class B> inline WinnowMixed<A, B> name(A x, B y) {                            \
    return name(WinnowMixed<A, B>(x), WinnowMixed<A, B>(y));                                       \
  }
#define WINNOW_BINARY(name)                                                                        \
  extern "C" double name(double, double) noexcept;                                                 \
  extern "C" float name##f(float, float) noexcept;                                                 \
  inline float name(float x, float y) { return name##f(x, y); }                                    \
  WINNOW_MIXED(name)
WINNOW_BINARY(atan2)
WINNOW_BINARY(copysign)
WINNOW_BINARY(fdim)
WINNOW_BINARY(fmod)
WINNOW_BINARY(hypot)
WINNOW_BINARY(nextafter)
WINNOW_BINARY(pow)
WINNOW_BINARY(remainder)
#undef WINNOW_BINARY

extern "C" {
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double scalbn(double, int) noexcept;
float scalbnf(float, int) noexcept;
double scalbln(double, long) noexcept;
float scalblnf(float, long) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
double modf(double, double*) noexcept;
float modff(float, float*) noexcept;
double remquo(double, double, int*) noexcept;
float remquof(float, float, int*) noexcept;
int ilogb(double) noexcept;
int ilogbf(float) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
long long llrint(double) noexcept;
long long llrintf(float) noexcept;
long long llround(double) noexcept;
long long llroundf(float) noexcept;
double nan(const char*) noexcept;
float nanf(const char*) noexcept;
void sincos(double, double*, double*) noexcept;
void sincosf(float, float*, float*) noexcept;
double exp10(double) noexcept;
float exp10f(float) noexcept;
double j0(double) noexcept;
float j0f(float) noexcept;
double j1(double) noexcept;
float j1f(float) noexcept;
double y0(double) noexcept;
float y0f(float) noexcept;
double y1(double) noexcept;
float y1f(float) noexcept;
}
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float ldexp(float x, int e) { return ldexpf(x, e); }
inline float scalbn(float x, int e) { return scalbnf(x, e); }
inline float frexp(float x, int* e) { return frexpf(x, e); }
inline float modf(float x, float* whole) { return modff(x, whole); }
inline int ilogb(float x) { return ilogbf(x); }
inline long lrint(float x) { return lrintf(x); }
inline long lround(float x) { return lroundf(x); }
inline long long llrint(float x) { return llrintf(x); }
inline long long llround(float x) { return llroundf(x); }
inline float exp10(float x) { return exp10f(x); }
inline void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
inline float pow(float x, int n) { return powf(x, float(n)); }
inline double pow(double x, int n) { return pow(x, double(n)); }
inline double pow(int x, double y) { return pow(double(x), y); }
inline double pow(int x, int y) { return pow(double(x), double(y)); }
inline float pow(int x, float y) { return powf(float(x), y); }

// NaN loses against a number, as in IEEE 754 maxNum; a plain comparison vectorises, a libm call
// would not.
inline float fmaxf(float x, float y) { return x > y || y != y ? x : y; }
inline float fminf(float x, float y) { return x < y || y != y ? x : y; }
inline double fmax(double x, double y) { return x > y || y != y ? x : y; }
inline double fmin(double x, double y) { return x < y || y != y ? x : y; }
inline float fmax(float x, float y) { return fmaxf(x, y); }
inline float fmin(float x, float y) { return fminf(x, y); }
WINNOW_MIXED(fmax)
WINNOW_MIXED(fmin)
#undef WINNOW_MIXED

// Mixed integers meet in the unsigned type, as in CUDA.
#define WINNOW_MIN_MAX(R, A, B)                                                                    \
  constexpr R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                                  \
  constexpr R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
WINNOW_MIN_MAX(int, int, int)
WINNOW_MIN_MAX(unsigned, unsigned, unsigned)
WINNOW_MIN_MAX(unsigned, int, unsigned)
WINNOW_MIN_MAX(unsigned, unsigned, int)
WINNOW_MIN_MAX(long, long, long)
WINNOW_MIN_MAX(unsigned long, unsigned long, unsigned long)
WINNOW_MIN_MAX(unsigned long, long, unsigned long)
WINNOW_MIN_MAX(unsigned long, unsigned long, long)
WINNOW_MIN_MAX(long long, long long, long long)
WINNOW_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
WINNOW_MIN_MAX(unsigned long long, long long, unsigned long long)
WINNOW_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef WINNOW_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(double(a), b); }
inline double min(double a, float b) { return fmin(a, double(b)); }
inline double max(float a, double b) { return fmax(double(a), b); }
inline double max(double a, float b) { return fmax(a, double(b)); }
inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

inline int abs(int x) { return x < 0 ? -x : x; }
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline long labs(long x) { return abs(x); }
inline long long llabs(long long x) { return abs(x); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }

inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x) != 0; }
inline bool signbit(double x) { return __builtin_signbit(x) != 0; }

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
template <class T> inline typename WinnowPromote<T>::Double rsqrt(T x) { return rsqrt(double(x)); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rcbrt(float x) { return rcbrtf(x); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline float norm3df(float x, float y, float z) {
  return float(sqrt(double(x) * x + double(y) * y + double(z) * z));
}
inline double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
inline double norm(int n, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    sum += v[i] * v[i];
  }
  return sqrt(sum);
}
inline float normf(int n, const float* v) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    sum += double(v[i]) * v[i];
  }
  return float(sqrt(sum));
}
inline double rnorm(int n, const double* v) { return 1.0 / norm(n, v); }
inline float rnormf(int n, const float* v) { return 1.0f / normf(n, v); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float norm4df(float x, float y, float z, float w) {
  return float(sqrt(double(x) * x + double(y) * y + double(z) * z + double(w) * w));
}
inline double norm4d(double x, double y, double z, double w) {
  return hypot(hypot(x, y), hypot(z, w));
}
inline float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }

// sin(pi x) with the argument reduced exactly first, so that integers give zero.
inline double sinpi(double x) {
  const double r = x - 2.0 * rint(x * 0.5);
  if (fabs(r) == 1.0 || r == 0.0) {
    return copysign(0.0, x);
  }
  return sin(M_PI * r);
}
inline double cospi(double x) {
  const double r = fabs(x - 2.0 * rint(x * 0.5));
  return r == 0.5 ? 0.0 : cos(M_PI * r);
}
inline float sinpif(float x) { return float(sinpi(double(x))); }
inline float cospif(float x) { return float(cospi(double(x))); }
inline float sinpi(float x) { return sinpif(x); }
inline float cospi(float x) { return cospif(x); }
inline void sincospif(float x, float* s, float* c) {
  *s = sinpif(x);
  *c = cospif(x);
}
inline void sincospi(double x, double* s, double* c) {
  *s = sinpi(x);
  *c = cospi(x);
}

inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return float(normcdf(double(x))); }
inline float normcdf(float x) { return normcdff(x); }
// Winitzki's approximation, then Newton steps on erf, which double the digits each.
inline double erfinv(double y) {
  if (!(fabs(y) < 1.0)) {
    return fabs(y) == 1.0 ? copysign(__builtin_huge_val(), y) : __builtin_nan("");
  }
  const double a = 0.147;
  const double l = log((1.0 - y) * (1.0 + y));
  const double t = 2.0 / (M_PI * a) + 0.5 * l;
  double x = copysign(sqrt(sqrt(t * t - l / a) - t), y);
  for (int i = 0; i < 4; ++i) {
    const double tail = 1.0 - fabs(y) - erfc(fabs(x)); // keeps its digits near 1
    const double error = fabs(y) > 0.5 ? (y < 0.0 ? -tail : tail) : erf(x) - y;
    const double slope = M_2_SQRTPI * exp(-x * x);
    if (slope == 0.0) {
      break;
    }
    x -= error / slope;
  }
  return x;
}
inline double erfcinv(double y) {
  if (y > 0.0625) {
    return erfinv(1.0 - y);
  }
  if (!(y > 0.0)) {
    return y == 0.0 ? __builtin_huge_val() : __builtin_nan("");
  }
  double x = sqrt(-log(y * 1.7724538509055159 * sqrt(-log(y))));
  for (int i = 0; i < 8; ++i) { // Newton on log(erfc), well scaled in the tail
    const double value = erfc(x);
    x += value * log(value / y) / (M_2_SQRTPI * exp(-x * x));
  }
  return x;
}
inline float erfinvf(float y) { return float(erfinv(double(y))); }
inline float erfinv(float y) { return erfinvf(y); }
inline float erfcinvf(float y) { return float(erfcinv(double(y))); }
inline float erfcinv(float y) { return erfcinvf(y); }
inline double normcdfinv(double p) { return -M_SQRT2 * erfcinv(2.0 * p); }
inline float normcdfinvf(float p) { return float(normcdfinv(double(p))); }
inline float normcdfinv(float p) { return normcdfinvf(p); }
inline double erfcx(double x) {
  if (x < 10.0) {
    return exp(x * x) * erfc(x);
  }
  double fraction = 0.0; // of the continued fraction, from its end
  for (int n = 50; n > 0; --n) {
    fraction = 0.5 * n / (x + fraction);
  }
  return 0.56418958354775628 / (x + fraction);
}
inline float erfcxf(float x) { return float(erfcx(double(x))); }
inline float erfcx(float x) { return erfcxf(x); }

inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float __frsqrt_rn(float x) { return float(1.0 / sqrt(double(x))); }

// The _rn intrinsics promise not to be fused or reordered: hides a result from the optimiser.
template <class T> inline T winnow_rounded(T v) {
#if defined(__x86_64__)
  __asm__("" : "+x"(v));
#else
  __asm__("" : "+w"(v));
#endif
  return v;
}
inline float __fadd_rn(float x, float y) { return winnow_rounded(x + y); }
inline float __fsub_rn(float x, float y) { return winnow_rounded(x - y); }
inline float __fmul_rn(float x, float y) { return winnow_rounded(x * y); }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return winnow_rounded(x + y); }
inline double __dsub_rn(double x, double y) { return winnow_rounded(x - y); }
inline double __dmul_rn(double x, double y) { return winnow_rounded(x * y); }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

// Directed rounding: computed in double, then rounded the asked way.
inline float winnow_round_down(double x) {
  const float f = float(x);
  return double(f) > x ? nextafterf(f, -__builtin_huge_valf()) : f;
}
inline float winnow_round_up(double x) {
  const float f = float(x);
  return double(f) < x ? nextafterf(f, __builtin_huge_valf()) : f;
}
inline float winnow_round_zero(double x) {
  return x < 0.0 ? winnow_round_up(x) : winnow_round_down(x);
}
#define WINNOW_DIRECTED(suffix, how)                                                               \
  inline float __fadd_##suffix(float x, float y) { return how(double(x) + double(y)); }            \
  inline float __fsub_##suffix(float x, float y) { return how(double(x) - double(y)); }            \
  inline float __fmul_##suffix(float x, float y) { return how(double(x) * double(y)); }            \
  inline float __fdiv_##suffix(float x, float y) { return how(double(x) / double(y)); }            \
  inline float __frcp_##suffix(float x) { return how(1.0 / double(x)); }                           \
  inline float __fsqrt_##suffix(float x) { return how(sqrt(double(x))); }                          \
  inline float __fmaf_##suffix(float x, float y, float z) {                                        \
    return how(fma(double(x), double(y), double(z)));                                              \
  }                                                                                                \
  inline float __double2float_##suffix(double x) { return how(x); }
WINNOW_DIRECTED(rd, winnow_round_down)
WINNOW_DIRECTED(ru, winnow_round_up)
WINNOW_DIRECTED(rz, winnow_round_zero)
#undef WINNOW_DIRECTED
inline float __double2float_rn(double x) { return float(x); }
