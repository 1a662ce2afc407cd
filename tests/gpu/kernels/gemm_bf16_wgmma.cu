/*@winnow
{ "params": { "STAGES": [6, 4] },
  "let": { "tma": "has_tensor_maps && n % 8 == 0 && k % 8 == 0" },
  "tensor_maps": { "a_map": { "tensor": "a", "extents": ["k", "m"], "box": [64, 128], "swizzle": "128B" },
                   "b_map": { "tensor": "b", "extents": ["n", "k"], "box": [64, 64], "swizzle": "128B" } },
  "launches": [
    { "kernel": "gemm", "when": "tma", "grid": ["min(sm_count, ceil_div(m, 128) * ceil_div(n, 128))"], "block": [384],
      "shared_bytes": "STAGES * 32768 + 1024", "args": [{ "tensor_map": "a_map" }, { "tensor_map": "b_map" }, "c", "m", "n", "k"] },
    { "kernel": "plain", "when": "!tma", "grid": ["ceil_div(m * n, 256)"], "block": [256], "args": ["a", "b", "c", "m", "n", "k"] } ] }
@*/
#include <cuda.h> // CUtensorMap
#include <cuda_bf16.h>

// Bits 0-13 address, 16-29 leading, 32-45 stride: bytes / 16. 49-51: 0. 62-63: swizzle (1: 128B, 2: 64B, 3: 32B, 0: none).
__device__ unsigned long long descriptor(unsigned address, unsigned leading, unsigned stride) {
  return 1ull << 62 | (unsigned long long)(stride / 16) << 32 | leading / 16 << 16 | (address & 0x3ffff) / 16;
}
#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)
#define TEN(t) "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
// d = a (64 x 16) * b (16 x 128) + (add ? d : 0). For n256: float d[128]; TEN() to TEN(11), "%120,...,%127"; %128 %129 %130; F16 to 112.
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
               TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63}, %64, %65, p, 1, 1, 0, 1; }" // scales, transpose a, b
               : F16(0), F16(16), F16(32), F16(48) : "l"(a), "l"(b), "r"(add));
}
// a: 64 rows of 64 k. b: 64 rows (k) of 128 n, as 2 boxes of 64 n. Runs on after the return.
__device__ __forceinline__ void multiply_stage(float (&d)[64], unsigned a_at, unsigned b_at, int step) {
  const unsigned long long a = descriptor(a_at, 16, 1024), b = descriptor(b_at, 8192, 1024);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); // before the first, and after any other write of d or of a's registers
#pragma unroll
  for (int i = 0; i < 4; ++i) multiply(d, a + 2 * i, b + 128 * i, step + i); // add == 0 starts the sum
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int LEFT> __device__ __forceinline__ void wait_groups(float (&d)[64]) { // until at most LEFT groups run
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
#pragma unroll
  for (int i = 0; LEFT == 0 && i < 64; ++i) asm volatile("" : "+f"(d[i])::"memory"); // no use of d moves up
}
__device__ __forceinline__ void store(float (&d)[64], __nv_bfloat16* c, int top, int left, int m, int n) { // n even
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int i = 0; i < 64; i += 2) { // d[i], d[i + 1]: neighbours in a row
    const int row = top + 16 * warp + lane / 4 + 8 * (i / 2 % 2), column = left + 8 * (i / 4) + 2 * (lane % 4);
    if (row < m && column < n) *(__nv_bfloat162*)(c + (long long)row * n + column) = __floats2bfloat162_rn(d[i], d[i + 1]);
  }
}
__device__ void init(unsigned bar, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}
__device__ void expect(unsigned bar, unsigned bytes) { // one arrival, and so many bytes
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void arrive(unsigned bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
__device__ void wait(unsigned bar, unsigned parity) { // for the end of the phase of this parity
  for (unsigned done = 0; done == 0;)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(bar), "r"(parity) : "memory");
}
__device__ void load(unsigned to, const CUtensorMap* map, unsigned bar, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(to), "l"(map), "r"(bar), "r"(x), "r"(y) : "memory");
}
__global__ void __launch_bounds__(384, 1) gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                                               __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ unsigned char raw[];
  __shared__ unsigned long long bars[2 * STAGES];
  const unsigned base = ((unsigned)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
  const unsigned full = (unsigned)__cvta_generic_to_shared(bars), empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) init(full + 8 * s, 1), init(empty + 8 * s, 8);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int down = (m + 127) / 128, tiles = down * ((n + 127) / 128), steps = (k + 63) / 64, group = threadIdx.x / 128;
  int s = 0;
  unsigned phase = 0;
  auto next = [&] { if (++s == STAGES) s = 0, phase ^= 1; };
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); // all 4 warps
    for (int tile = blockIdx.x; threadIdx.x == 256 && tile < tiles; tile += gridDim.x) {
      for (int step = 0; step < steps; ++step, next()) {
        const unsigned bar = full + 8 * s, to = base + 32768 * s;
        wait(empty + 8 * s, phase ^ 1); // the first round passes at once
        expect(bar, 32768);             // whole boxes: outside of the extents come zeros
        load(to, &a_map, bar, step * 64, tile % down * 128);
        for (int j = 0; j < 2; ++j) load(to + 16384 + 8192 * j, &b_map, bar, tile / down * 128 + 64 * j, step * 64);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[64];
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      int before = 0;
      for (int step = 0; step < steps; ++step, before = s, next()) {
        wait(full + 8 * s, phase);
        multiply_stage(d, base + 32768 * s + 8192 * group, base + 32768 * s + 16384, step);
        wait_groups<1>(d); // the step before is over
        if (step > 0 && threadIdx.x % 32 == 0) arrive(empty + 8 * before);
      }
      wait_groups<0>(d);
      if (threadIdx.x % 32 == 0) arrive(empty + 8 * before);
      store(d, c, tile % down * 128 + 64 * group, tile / down * 128, m, n);
    }
  }
}

// Rows whose length is no multiple of 16 bytes.
__global__ void plain(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x, row = i / n, column = i % n;
  if (row < m) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p) sum += __bfloat162float(a[row * k + p]) * __bfloat162float(b[(long long)p * n + column]);
    c[i] = __float2bfloat16(sum);
  }
}
