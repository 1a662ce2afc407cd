// What CUDA kernels use without a thought.
#include <cuda/cmath>
#include <cuda/std/array>
#include <cuda_runtime.h>
#include <math_constants.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

template <class T> __device__ T clamped(T v) {
  static_assert(std::is_same<T, float>::value || std::is_integral_v<T>, "");
  return std::min(std::max(v, T(0)), std::numeric_limits<T>::max());
}

extern "C" __global__ void __launch_bounds__(256, 2)
    intrinsics(float* __restrict__ p, int64_t* q, uint8_t* bytes, float4* f4) {
  extern __shared__ float dynamic[];
  const unsigned i = threadIdx.x;
  constexpr float low = -INFINITY;
  p[0] = clamped(p[1]) + low + FLT_MAX + NAN + (float)M_PI + CUDART_INF_F + CUDART_PI_F;
  p[1] = std::sqrt(p[2]) + std::fmax(p[3], std::exp(p[4])) + std::numeric_limits<float>::epsilon();
  q[0] = INT64_MAX - INT_MAX + (int64_t)SIZE_MAX + std::abs(-3) + cuda::ceil_div(7, 2);
  std::array<float, 4> a{};
  a.fill(2.0f);
  cuda::std::array<int, 3> b{};
  std::swap(a[0], p[5]);
  bytes[0] = UINT8_MAX + b[1];
  assert(std::isfinite(p[0]));
  float4 v = f4[0];
  v.x += __ldg(p) + __ldcs(p + 1);
  f4[1] = make_float4(v.x, v.y, v.z, v.w);
  __stcs(&f4[2], v);
  p[2] = __expf(p[1]) + __fdividef(p[2], p[3]) + rsqrtf(p[3]) + fmaxf(p[1], p[2]) +
         __frcp_rn(p[1]) + __fsqrt_rn(p[2]) + exp10f(p[2]) + tanhf(p[3]) + __saturatef(p[1]) +
         __powf(p[1], p[2]) + erff(p[1]) + __fmaf_rn(p[1], p[2], p[3]) + __frsqrt_rn(p[1]) +
         __logf(p[1]) + exp2f(p[3]) + fmodf(p[1], p[2]) + copysignf(p[1], p[2]);
  q[1] = __clz(3) + __ffs(3) + __brev(3) + __popcll(3) + __float_as_int(p[1]) + __dp4a(1, 2, 3) +
         __byte_perm(1, 2, 3) + __umulhi(3, 4) + clock64() + __funnelshift_l(1, 2, 3) +
         min(1, 2) + max(3u, 4u) + __float2int_rn(p[1]);
  atomicAdd(p, 1.0f);
  atomicMax((int*)q, 1);
  atomicCAS((int*)q, 1, 2);
  atomicAdd((unsigned long long*)q, 1ull);
  dynamic[i] = p[1];
  __syncthreads();
  __threadfence();
  p[3] = dynamic[0];
  sincosf(p[1], p + 4, p + 5);
  if (p[3] > 1e30f) {
    __trap();
  }
}
