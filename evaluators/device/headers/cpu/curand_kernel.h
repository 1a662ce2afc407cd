// cuRAND's device side: the Philox generator, number for number.
#pragma once
#include "winnow_cpu.h"

#define curandState                                                                                \
  WINNOW_UNSUPPORTED("winnow-unsupported: curandState (XORWOW; use curandStatePhilox4_32_10_t)")   \
  curandStatePhilox4_32_10_t
#define curandState_t                                                                              \
  WINNOW_UNSUPPORTED("winnow-unsupported: curandState_t (XORWOW; use curandStatePhilox4_32_10_t)") \
  curandStatePhilox4_32_10_t
#define curandStateXORWOW_t curandState_t
#define curandStateMRG32k3a_t                                                                      \
  WINNOW_UNSUPPORTED("winnow-unsupported: curandStateMRG32k3a_t (use curandStatePhilox4_32_10_t)") \
  curandStatePhilox4_32_10_t

struct curandStatePhilox4_32_10_t {
  uint4 counter, output;
  uint2 key;
  unsigned position; // of the next number in output
  int has_spare;
  float spare; // second number of the last Box-Muller pair
};
using curandStatePhilox4_32_10 = curandStatePhilox4_32_10_t;

inline uint4 winnow_philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long first = 0xd2511f53ull * c.x;
    const unsigned long long second = 0xcd9e8d57ull * c.z;
    c = {unsigned(second >> 32) ^ c.y ^ key.x, unsigned(second),
         unsigned(first >> 32) ^ c.w ^ key.y, unsigned(first)};
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return c;
}
inline void winnow_philox_advance(uint4* c, unsigned long long n) {
  const unsigned long long low = (static_cast<unsigned long long>(c->y) << 32) | c->x;
  const unsigned long long sum = low + n;
  c->x = unsigned(sum);
  c->y = unsigned(sum >> 32);
  if (sum < low && ++c->z == 0) {
    ++c->w;
  }
}

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned position = state->position + unsigned(n & 3u);
  state->position = position & 3u;
  winnow_philox_advance(&state->counter, n / 4 + position / 4);
  state->output = winnow_philox(state->counter, state->key);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  uint4& c = state->counter;
  const unsigned long long high = ((static_cast<unsigned long long>(c.w) << 32) | c.z) + n;
  c.z = unsigned(high);
  c.w = unsigned(high >> 32);
  state->output = winnow_philox(c, state->key);
}
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  *state = {};
  state->key = {unsigned(seed), unsigned(seed >> 32)};
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}

inline unsigned curand(curandStatePhilox4_32_10_t* state) {
  const uint4& o = state->output;
  const unsigned all[4] = {o.x, o.y, o.z, o.w};
  const unsigned result = all[state->position];
  skipahead(1, state);
  return result;
}
inline uint4 curand4(curandStatePhilox4_32_10_t* state) {
  return {curand(state), curand(state), curand(state), curand(state)};
}

inline float winnow_uniform(unsigned bits) { return float(bits) * 0x1p-32f + 0x1p-33f; }
inline float2 winnow_box_muller(unsigned a, unsigned b) {
  const float radius = sqrtf(-2.0f * logf(winnow_uniform(a)));
  const float scale = 0x1p-32f * 6.2831855f;
  float2 pair;
  sincosf(float(b) * scale + scale / 2.0f, &pair.x, &pair.y);
  return {pair.x * radius, pair.y * radius};
}

inline float curand_uniform(curandStatePhilox4_32_10_t* state) {
  return winnow_uniform(curand(state));
}
inline float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 v = curand4(state);
  return {winnow_uniform(v.x), winnow_uniform(v.y), winnow_uniform(v.z), winnow_uniform(v.w)};
}
inline float2 curand_normal2(curandStatePhilox4_32_10_t* state) {
  const unsigned a = curand(state);
  const unsigned b = curand(state);
  return winnow_box_muller(a, b);
}
inline float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 v = curand4(state);
  const float2 a = winnow_box_muller(v.x, v.y);
  const float2 b = winnow_box_muller(v.z, v.w);
  return {a.x, a.y, b.x, b.y};
}
inline float curand_normal(curandStatePhilox4_32_10_t* state) {
  if (state->has_spare != 0) {
    state->has_spare = 0;
    return state->spare;
  }
  const float2 pair = curand_normal2(state);
  state->has_spare = 1;
  state->spare = pair.y;
  return pair.x;
}
