/*@winnow
{ "tensor_maps": { "x_map": { "tensor": "x", "extents": ["2 * n"], "box": [256] } },
  "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": [{"tensor_map": "x_map"}, "y", "z", "alpha", "n"] } ] }
@*/
// The map claims twice the elements that x has.
#include <cuda.h>

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void axpy(const __grid_constant__ CUtensorMap x_map, const float* y, float* z,
                                float alpha, int n) {
  __shared__ alignas(128) float tile[256];
  __shared__ alignas(8) unsigned long long barrier;
  const int start = blockIdx.x * 256;
  const unsigned mbarrier = shared_address(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mbarrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(1024)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3}], [%2];" ::"r"(shared_address(tile)),
                 "l"(&x_map), "r"(mbarrier), "r"(start)
                 : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(mbarrier)
                 : "memory");
  }
  const int i = start + threadIdx.x;
  if (i < n) {
    z[i] = alpha * tile[threadIdx.x] + y[i];
  }
}
