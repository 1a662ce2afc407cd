// Maths, intrinsics and vector types for the header tests, which call them from the host.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>
#include <limits>
#include <math.h>
#include <type_traits>

#define EXPORT extern "C" __attribute__((visibility("default")))

// Overloads as CUDA C++ resolves them.
static_assert(std::is_same_v<decltype(sqrt(1.0f)), float> &&
              std::is_same_v<decltype(exp(1)), double>);
static_assert(std::is_same_v<decltype(max(1, 2u)), unsigned> &&
              std::is_same_v<decltype(max(1.0f, 2.0)), double>);
static_assert(std::is_same_v<decltype(fmax(1.0f, 2.0f)), float> &&
              std::is_same_v<decltype(abs(1.0f)), float>);
static_assert(std::is_same_v<decltype(std::pow(1.0f, 2)), float> &&
              std::is_same_v<decltype(abs(-1ll)), long long>);
static_assert(std::is_same_v<decltype(fmax(0, 1.0f)), float> &&
              std::is_same_v<decltype(fmod(1.0f, 2)), float> &&
              std::is_same_v<decltype(fmax(1.0, 2.0f)), double>);
static_assert(std::is_same_v<int64_t, long long> && sizeof(size_t) == 8);
static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && sizeof(float4) == 16 &&
              alignof(float4) == 16);
static_assert(alignof(float2) == 8 && alignof(double2) == 16 && alignof(char4) == 4 &&
              alignof(uchar2) == 2);
static_assert(sizeof(double4) == 32 && alignof(double4) == 16 && sizeof(short3) == 6 &&
              alignof(int2) == 8);
static_assert(std::numeric_limits<float>::infinity() > FLT_MAX && INT_MIN < 0 && INT64_MAX > 0);
static_assert(INFINITY > FLT_MAX); // a constant expression

#define UNARY(f)                                                                                   \
  EXPORT float f##_float(float x) { return f(x); }                                                 \
  EXPORT double f##_double(double x) { return f(x); }
UNARY(exp)
UNARY(exp2)
UNARY(exp10)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sqrt)
UNARY(rsqrt)
UNARY(cbrt)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(tanh)
UNARY(erf)
UNARY(erfc)
UNARY(floor)
UNARY(ceil)
UNARY(rint)
UNARY(round)
UNARY(trunc)
UNARY(fabs)
UNARY(asin)
UNARY(atan)
UNARY(sinh)
UNARY(lgamma)
UNARY(tgamma)
UNARY(normcdf)
UNARY(sinpi)
UNARY(cospi)
EXPORT float expf_fast(float x) { return __expf(x); }
EXPORT double erfinv_double(double x) { return erfinv(x); }
EXPORT double erfcinv_double(double x) { return erfcinv(x); }
EXPORT double erfcx_double(double x) { return erfcx(x); }
EXPORT double normcdfinv_double(double x) { return normcdfinv(x); }

EXPORT float fmaxf_of(float a, float b) { return fmaxf(a, b); }
EXPORT float fminf_of(float a, float b) { return fmin(a, b); }
EXPORT float multiply_then_add(float a, float b, float c) { return __fadd_rn(__fmul_rn(a, b), c); }
EXPORT float add_down(float a, float b) { return __fadd_rd(a, b); }
EXPORT float add_up(float a, float b) { return __fadd_ru(a, b); }
EXPORT float divide_zero(float a, float b) { return __fdiv_rz(a, b); }

EXPORT int clz(unsigned x) { return __clz(int(x)); }
EXPORT int clzll(unsigned long long x) { return __clzll(static_cast<long long>(x)); }
EXPORT int ffs_of(int x) { return __ffs(x); }
EXPORT unsigned brev(unsigned x) { return __brev(x); }
EXPORT unsigned byte_perm(unsigned a, unsigned b, unsigned s) { return __byte_perm(a, b, s); }
EXPORT unsigned funnel_l(unsigned a, unsigned b, unsigned s) { return __funnelshift_l(a, b, s); }
EXPORT unsigned funnel_rc(unsigned a, unsigned b, unsigned s) { return __funnelshift_rc(a, b, s); }
EXPORT unsigned umulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
EXPORT int mul24(int a, int b) { return __mul24(a, b); }
EXPORT int dp4a(int a, int b, int c) { return __dp4a(a, b, c); }
EXPORT unsigned sad(int a, int b, unsigned c) { return __sad(a, b, c); }
EXPORT unsigned fns(unsigned m, unsigned base, int n) { return __fns(m, base, n); }
EXPORT unsigned vadd4(unsigned a, unsigned b) { return __vadd4(a, b); }
EXPORT unsigned vsubss4(unsigned a, unsigned b) { return __vsubss4(a, b); }
EXPORT int float_to_int(float x) { return __float2int_rz(x); }
EXPORT int float_to_int_near(float x) { return __float2int_rn(x); }
EXPORT unsigned float_to_unsigned(float x) { return __float2uint_rz(x); }
EXPORT long long float_to_long(float x) { return __float2ll_rn(x); }
EXPORT int bits_of(float x) { return __float_as_int(x); }
EXPORT float of_bits(int x) { return __int_as_float(x); }
