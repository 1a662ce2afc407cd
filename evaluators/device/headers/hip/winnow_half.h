// What CUDA's half has and HIP's lacks. bfloat16 adds its overloads to the same names.
#pragma once
#include "winnow_hip.h"

inline bool winnow_is_nan(half v) { return isnan(__half2float(v)); }
inline half winnow_hmax(half a, half b) {
  return __float2half(fmaxf(__half2float(a), __half2float(b)));
}
inline half winnow_hmin(half a, half b) {
  return __float2half(fminf(__half2float(a), __half2float(b)));
}
inline half winnow_hmax_nan(half a, half b) {
  return winnow_is_nan(a) ? a : winnow_is_nan(b) ? b : winnow_hmax(a, b);
}
inline half winnow_hmin_nan(half a, half b) {
  return winnow_is_nan(a) ? a : winnow_is_nan(b) ? b : winnow_hmin(a, b);
}
inline half winnow_htanh(half v) { return __float2half(tanhf(__half2float(v))); }
inline half winnow_relu(half v) { return winnow_hmax_nan(v, __float2half(0.0f)); }
inline half winnow_double2half(double v) { return __float2half(float(v)); }

#define WINNOW_HALF_PAIR(name2, name)                                                              \
  inline __half2 name2(__half2 a, __half2 b) {                                                     \
    return __halves2half2(name(__low2half(a), __low2half(b)),                                      \
                          name(__high2half(a), __high2half(b)));                                   \
  }
WINNOW_HALF_PAIR(winnow_hmax2, winnow_hmax)
WINNOW_HALF_PAIR(winnow_hmin2, winnow_hmin)
WINNOW_HALF_PAIR(winnow_hmax2_nan, winnow_hmax_nan)
WINNOW_HALF_PAIR(winnow_hmin2_nan, winnow_hmin_nan)
#undef WINNOW_HALF_PAIR
inline __half2 winnow_h2tanh(__half2 v) {
  return __halves2half2(winnow_htanh(__low2half(v)), winnow_htanh(__high2half(v)));
}

// CUDA never fuses these into a multiply-add; HIP may.
inline half winnow_hadd_rn(half a, half b) { return __hadd(a, b); }
inline half winnow_hsub_rn(half a, half b) { return __hsub(a, b); }
inline half winnow_hmul_rn(half a, half b) { return __hmul(a, b); }
inline half winnow_hfma_relu(half a, half b, half c) { return winnow_relu(__hfma(a, b, c)); }

#define __hmax winnow_hmax
#define __hmin winnow_hmin
#define __hmax_nan winnow_hmax_nan
#define __hmin_nan winnow_hmin_nan
#define __hmax2 winnow_hmax2
#define __hmin2 winnow_hmin2
#define __hmax2_nan winnow_hmax2_nan
#define __hmin2_nan winnow_hmin2_nan
#define htanh winnow_htanh
#define h2tanh winnow_h2tanh
#define __double2half winnow_double2half
#define __hadd_rn winnow_hadd_rn
#define __hsub_rn winnow_hsub_rn
#define __hmul_rn winnow_hmul_rn
#define __hfma_relu winnow_hfma_relu
