// CUDA's built-in vector types, sized and aligned as CUDA does. uint3 comes with the core.
#pragma once
#include "winnow_core.h"

#define WINNOW_VECTOR_TYPES(T, Name, Align2, Align4)                                               \
  struct Name##1 {                                                                                 \
    T x;                                                                                           \
  };                                                                                               \
  struct alignas(Align2) Name##2 {                                                                 \
    T x, y;                                                                                        \
  };                                                                                               \
  struct alignas(Align4) Name##4 {                                                                 \
    T x, y, z, w;                                                                                  \
  };                                                                                               \
  inline Name##1 make_##Name##1(T x) { return {x}; }                                               \
  inline Name##2 make_##Name##2(T x, T y) { return {x, y}; }                                       \
  inline Name##4 make_##Name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define WINNOW_VECTOR3(T, Name)                                                                    \
  struct Name##3 {                                                                                 \
    T x, y, z;                                                                                     \
  };

WINNOW_VECTOR3(signed char, char)
WINNOW_VECTOR3(unsigned char, uchar)
WINNOW_VECTOR3(short, short)
WINNOW_VECTOR3(unsigned short, ushort)
WINNOW_VECTOR3(int, int)
WINNOW_VECTOR3(long, long)
WINNOW_VECTOR3(unsigned long, ulong)
WINNOW_VECTOR3(long long, longlong)
WINNOW_VECTOR3(unsigned long long, ulonglong)
WINNOW_VECTOR3(float, float)
WINNOW_VECTOR3(double, double)
WINNOW_VECTOR_TYPES(signed char, char, 2, 4)
WINNOW_VECTOR_TYPES(unsigned char, uchar, 2, 4)
WINNOW_VECTOR_TYPES(short, short, 4, 8)
WINNOW_VECTOR_TYPES(unsigned short, ushort, 4, 8)
WINNOW_VECTOR_TYPES(int, int, 8, 16)
WINNOW_VECTOR_TYPES(unsigned, uint, 8, 16)
WINNOW_VECTOR_TYPES(long, long, 16, 16)
WINNOW_VECTOR_TYPES(unsigned long, ulong, 16, 16)
WINNOW_VECTOR_TYPES(long long, longlong, 16, 16)
WINNOW_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
WINNOW_VECTOR_TYPES(float, float, 8, 16)
WINNOW_VECTOR_TYPES(double, double, 16, 16)
#undef WINNOW_VECTOR_TYPES
#undef WINNOW_VECTOR3

inline char3 make_char3(signed char x, signed char y, signed char z) { return {x, y, z}; }
inline uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { return {x, y, z}; }
inline short3 make_short3(short x, short y, short z) { return {x, y, z}; }
inline ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) {
  return {x, y, z};
}
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline long3 make_long3(long x, long y, long z) { return {x, y, z}; }
inline ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) { return {x, y, z}; }
inline longlong3 make_longlong3(long long x, long long y, long long z) { return {x, y, z}; }
inline ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y,
                                  unsigned long long z) {
  return {x, y, z};
}
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline double3 make_double3(double x, double y, double z) { return {x, y, z}; }

// CUDA 13 names the four-element types by alignment.
using double4_16a = double4;
using long4_16a = long4;
using ulong4_16a = ulong4;
using longlong4_16a = longlong4;
using ulonglong4_16a = ulonglong4;
struct alignas(32) double4_32a {
  double x, y, z, w;
};
inline double4_16a make_double4_16a(double x, double y, double z, double w) { return {x, y, z, w}; }
inline double4_32a make_double4_32a(double x, double y, double z, double w) { return {x, y, z, w}; }
