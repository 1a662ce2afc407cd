// Groups of threads: cooperative groups, shuffles and atomics of the small types, copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// 8 numbers a thread.
__global__ void tiles(int* y) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(warp);
  const int me = int(block.thread_rank());
  int* out = y + 8 * me;
  out[0] = cg::reduce(tile, me, cg::plus<int>());
  out[1] = cg::reduce(warp, me ^ 5, cg::greater<int>());
  out[2] = tile.shfl(me, 3);
  out[3] = tile.shfl_down(me, 2);
  out[4] = int(tile.ballot(me % 3 == 0));
  out[5] = cg::inclusive_scan(tile, me);
  out[6] = cg::exclusive_scan(warp, 1);
  out[7] = int(tile.meta_group_rank() * 100 + tile.thread_rank());
}

__global__ void coalesced(int* y) {
  const int me = int(threadIdx.x);
  y[me] = -1;
  if (me % 3 == 1) {
    const cg::coalesced_group group = cg::coalesced_threads();
    const int first = group.shfl(me, 0);
    y[me] = int(group.size()) * 10000 + int(group.thread_rank()) * 100 + first;
    y[me] += cg::reduce(group, 1, cg::plus<int>()) * 1000000;
  }
}

__global__ void whole_grid(int* partial, int* y) {
  const cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = int(grid.block_rank()) + 1;
  }
  grid.sync();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) {
    sum += partial[i];
  }
  y[grid.thread_rank()] = sum;
}

// Sums over all threads; results end in y.
__global__ void small_types(float* y) {
  __shared__ half2 pair;
  __shared__ __nv_bfloat16 brain;
  __shared__ float2 floats;
  __shared__ int rounds;
  if (threadIdx.x == 0) {
    pair = __float2half2_rn(0.0f);
    brain = 0.0f;
    floats = make_float2(0.0f, 0.0f);
    rounds = 0;
  }
  __syncthreads();
  const half2 mine = __floats2half2_rn(1.0f, float(threadIdx.x % 4));
  atomicAdd(&pair, mine);
  atomicAdd(&brain, __float2bfloat16(2.0f));
  atomicAdd(&floats, make_float2(0.5f, -1.0f));
  cuda::atomic_ref<int, cuda::thread_scope_block> counter(rounds);
  counter.fetch_add(1, cuda::memory_order_relaxed);
  half2 sum = mine;
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    sum = __hadd2(sum, __shfl_xor_sync(0xffffffffu, sum, lanes));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    const float values[] = {__low2float(pair), __high2float(pair), float(brain),
                            floats.x,          floats.y,           float(rounds),
                            __low2float(sum),  __high2float(sum)};
    for (int i = 0; i < 8; ++i) {
      y[i] = values[i];
    }
  }
}

__global__ void copies(const float* x, float* y) {
  __shared__ alignas(16) float whole[64];
  __shared__ alignas(16) float stage[64];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, whole, x, sizeof whole);
  cg::wait(block);
  const int me = int(threadIdx.x);
  __pipeline_memcpy_async(&stage[me], &x[me], 4, me % 2 == 0 ? 0 : 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[me] = whole[63 - me] + 1000.0f * stage[me ^ 1];
}
