// Vector atomics. The core has the scalar ones, and loads and stores of any type.
#pragma once
#include "vector_types.h"

// Atomic by component, as on a GPU.
inline float2 atomicAdd(float2* p, float2 value) {
  return {atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y)};
}
inline float4 atomicAdd(float4* p, float4 value) {
  return {atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y), atomicAdd(&p->z, value.z),
          atomicAdd(&p->w, value.w)};
}
