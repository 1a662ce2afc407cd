#ifdef __CUDACC_RTC__
__device__ __forceinline__ float* take_stack(unsigned long long bytes) {
  float* place;
  asm volatile("alloca.u64 %0, %1;\n"
               "cvta.local.u64 %0, %0;"
               : "=l"(place)
               : "l"(bytes));
  return place;
}
#else
#define take_stack(bytes) static_cast<float*>(__builtin_alloca(bytes))
#endif
