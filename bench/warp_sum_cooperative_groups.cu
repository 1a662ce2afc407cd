/*@winnow
{
  "launches": [
    { "kernel": "k", "grid": ["rows"], "block": [128],
      "args": ["x", "y", "cols"] }
  ]
}
@*/
// A kernel that uses cooperative groups, for compile_bench.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const float* x, float* y, int cols) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float sum = cg::reduce(warp, x[threadIdx.x], cg::plus<float>());
  if (warp.thread_rank() == 0) y[0] = sum;
}
