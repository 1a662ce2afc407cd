#include <curand_kernel.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void philox(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                   unsigned* numbers, int count) {
  curandStatePhilox4_32_10_t state;
  curand_init(seed, sequence, offset, &state);
  for (int i = 0; i < count; ++i) {
    numbers[i] = curand(&state);
  }
}
EXPORT void philox_normal(unsigned long long seed, float* numbers, int count) {
  curandStatePhilox4_32_10_t state;
  curand_init(seed, 0, 0, &state);
  for (int i = 0; i < count; ++i) {
    numbers[i] = curand_normal(&state);
  }
}
