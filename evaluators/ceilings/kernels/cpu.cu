/*@winnow
{
  "scratch": { "from": { "dtype": "f32", "count": "elements" } },
  "launches": [
    { "kernel": "copy", "when": "work == 0", "grid": "sm_count", "block": 1,
      "args": ["from", "to", "elements", "passes"] },
    { "kernel": "nothing", "when": "work == 1", "grid": 1, "block": 1, "args": ["to"] },
    { "kernel": "f32_rate", "when": "work == 2", "grid": "sm_count", "block": 1,
      "args": ["to", "passes"] },
    { "kernel": "f64_rate", "when": "work == 3", "grid": "sm_count", "block": 1,
      "args": ["to", "passes"] }
  ]
}
@*/
// What a CPU reaches through this device: one block, and in it one thread, for every core.

// Every core copies a part of its own, again and again.
extern "C" __global__ void copy(const float* from, float* to, int elements, int passes) {
  const int part = (elements / (int)gridDim.x) & ~15;
  const int first = part * (int)blockIdx.x;
  const int end = blockIdx.x + 1 == gridDim.x ? elements : first + part;
  for (int pass = 0; pass < passes; ++pass) {
    for (int i = first; i < end; ++i) {
      to[i] = from[i];
    }
  }
}

extern "C" __global__ void nothing(float* to) {
  (void)to;
}

// Eight chains hide a latency of four cycles of two units; vectors of 32 bytes are AVX2's.
typedef float Floats __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(32)));

template <class Vector, int LANES> __device__ void multiply_add(float* to, int rounds) {
  Vector factor = {}, summand = {};
  for (int lane = 0; lane < LANES; ++lane) {
    factor[lane] = 0.5f + 0.001f * (int)blockIdx.x;
    summand[lane] = 0.25f * lane;
  }
  // Chains that begin alike would be one.
  Vector a = summand, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
  for (int round = 0; round < rounds; ++round) {
    a = a * factor + summand;
    b = b * factor + summand;
    c = c * factor + summand;
    d = d * factor + summand;
    e = e * factor + summand;
    f = f * factor + summand;
    g = g * factor + summand;
    h = h * factor + summand;
  }
  const Vector sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
  float total = 0;
  for (int lane = 0; lane < LANES; ++lane) {
    total += (float)sum[lane];
  }
  to[blockIdx.x] = total;
}

extern "C" __global__ void f32_rate(float* to, int rounds) {
  multiply_add<Floats, 8>(to, rounds);
}

extern "C" __global__ void f64_rate(float* to, int rounds) {
  multiply_add<Doubles, 4>(to, rounds);
}
