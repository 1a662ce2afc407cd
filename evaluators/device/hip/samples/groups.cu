#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_pipeline.h>
#include <curand_kernel.h>

namespace cg = cooperative_groups;

extern "C" __global__ void groups(float* p) {
  __shared__ float shared[64];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  auto small = cg::tiled_partition<8>(tile);
  float v = cg::reduce(tile, p[threadIdx.x], cg::plus<float>());
  v += cg::inclusive_scan(small, v) + tile.shfl_down(v, 3) + small.shfl_xor(v, 1);
  const auto active = cg::coalesced_threads();
  if (tile.thread_rank() == 0) {
    p[blockIdx.x] = v + tile.meta_group_rank() + active.size() + tile.ballot(v > 1.0f);
  }
  cg::memcpy_async(block, shared, p, sizeof(float) * 64);
  cg::wait(block);
  __pipeline_memcpy_async(shared + 4, p + 4, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  curandStatePhilox4_32_10_t state;
  curand_init(1, threadIdx.x, 0, &state);
  p[1] = shared[5] + curand_uniform(&state);
  cg::this_grid().sync();
}
