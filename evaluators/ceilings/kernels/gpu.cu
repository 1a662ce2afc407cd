/*@winnow
{
  "let": { "blocks": "sm_count * (max_threads_per_sm > 0 ? max_threads_per_sm / 256 : 8)" },
  "scratch": { "from": { "dtype": "f32", "count": "elements" } },
  "launches": [
    { "kernel": "copy", "when": "work == 0", "grid": "blocks", "block": 256,
      "args": ["from", "to", "elements / 4", "passes"] },
    { "kernel": "nothing", "when": "work == 1", "grid": 1, "block": 32, "args": ["to"] },
    { "kernel": "f32_rate", "when": "work == 2", "grid": "blocks", "block": 256,
      "args": ["to", "passes"] },
    { "kernel": "f64_rate", "when": "work == 3", "grid": "blocks", "block": 256,
      "args": ["to", "passes"] }
  ]
}
@*/
// Copy bandwidth and rates without tensor cores, with as many threads as fit at once.

// A working set that fits the L2 cache is copied many times in one launch: otherwise launching
// would take longer than copying. All threads share all passes, so that small sets keep them busy,
// too; threads that write the same element write the same value. L1 caches are passed by.
extern "C" __global__ void __launch_bounds__(256, 8)
    copy(const float4* from, float4* to, int count, int passes) {
  constexpr int kAtOnce = 4;
  const unsigned mask = count - 1; // count is a power of two
  const unsigned total = (unsigned)count * passes;
  const unsigned threads = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + (kAtOnce - 1) * threads < total; i += kAtOnce * threads) {
    float4 values[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      values[k] = __ldcg(from + ((i + k * threads) & mask));
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      __stcg(to + ((i + k * threads) & mask), values[k]);
    }
  }
  for (; i < total; i += threads) {
    __stcg(to + (i & mask), __ldcg(from + (i & mask)));
  }
}

extern "C" __global__ void nothing(float* to) {
  (void)to;
}

// Eight chains of each thread do not wait for each other.
template <class Real> __device__ __forceinline__ void multiply_add(float* to, int rounds) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const Real factor = Real(0.5) + Real(thread % 32) / 128, summand = Real(thread % 7);
  Real chains[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    chains[k] = Real(thread + k);
  }
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      chains[k] = chains[k] * factor + summand;
    }
  }
  Real sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    sum += chains[k];
  }
  to[thread] = (float)sum;
}

extern "C" __global__ void __launch_bounds__(256) f32_rate(float* to, int rounds) {
  multiply_add<float>(to, rounds);
}

extern "C" __global__ void __launch_bounds__(256) f64_rate(float* to, int rounds) {
  multiply_add<double>(to, rounds);
}
