// Names that model code uses without including anything, on every device. No system header is on
// the include path, so these are the only definitions. int64_t is `long long` everywhere: CUDA's
// own run-time-compiled headers say so, and a `long` would clash with them.
#pragma once

#if defined(WINNOW_CPU_DEVICE)
#define WINNOW_HD
#else
#define WINNOW_HD __host__ __device__
#endif

using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using intmax_t = int64_t;
using uintmax_t = uint64_t;
using uint = unsigned int;
using ushort = unsigned short;
#if defined(WINNOW_CPU_DEVICE)
using size_t = __SIZE_TYPE__;
using ptrdiff_t = __PTRDIFF_TYPE__;
#endif

#ifndef NULL
#define NULL 0
#endif
#ifndef CHAR_BIT
// Spelt as <cuda/std/climits> does under NVRTC, so that defining them twice is harmless.
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#endif
#ifndef INT8_MAX
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#endif
#ifndef SIZE_MAX
#define SIZE_MAX UINT64_MAX
#endif

#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define FLT_TRUE_MIN 1.401298464e-45f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#endif

// NVRTC lacks the usual builtins.
#if defined(__CUDACC_RTC__)
#define WINNOW_INF_F (__builtin_bit_cast(float, 0x7f800000))
#define WINNOW_NAN_F (__builtin_bit_cast(float, 0x7fffffff))
#define WINNOW_INF (__builtin_bit_cast(double, 0x7ff0000000000000LL))
#define WINNOW_NAN (__builtin_bit_cast(double, 0x7fffffffffffffffLL))
#else
#define WINNOW_INF_F (__builtin_huge_valf())
#define WINNOW_NAN_F (__builtin_nanf(""))
#define WINNOW_INF (__builtin_huge_val())
#define WINNOW_NAN (__builtin_nan(""))
#endif
#ifndef INFINITY
#define INFINITY WINNOW_INF_F
#endif
#ifndef NAN
#define NAN WINNOW_NAN_F
#endif
#ifndef HUGE_VALF
#define HUGE_VALF WINNOW_INF_F
#define HUGE_VAL WINNOW_INF
#endif

#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
// Two names of math_constants.h that appear without it.
#ifndef CUDART_INF_F
#define CUDART_INF_F __int_as_float(0x7f800000U)
#endif
#ifndef CUDART_NAN_F
#define CUDART_NAN_F __int_as_float(0x7fffffffU)
#endif
