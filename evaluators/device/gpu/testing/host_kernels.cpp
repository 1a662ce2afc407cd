#include "evaluators/device/gpu/testing/host_kernels.h"

#include "evaluators/device/compare_core.h"
#include "evaluators/device/guard_core.h"
#include "tasks/inputs/generator_core.h"

#include <algorithm>

// Compiles the helper kernels for the host, with one thread per launch.
namespace winnow::evaluators::fake_device {

struct Index {
  unsigned x = 0;
};
constexpr Index threadIdx{0};
constexpr Index blockIdx{0};
constexpr Index blockDim{1};
constexpr Index gridDim{1};

void atomicMin(unsigned long long* at, unsigned long long value) {
  *at = std::min(*at, value);
}
void atomicMax(unsigned long long* at, unsigned long long value) {
  *at = std::max(*at, value);
}
template <typename T> void atomicAdd(T* at, T value) {
  *at += value;
}

void __syncthreads() {}

// CUDA's keywords:
#define __shared__
#define __device__
#define __global__ static
#include "evaluators/device/gpu/helpers.cu"
// Needs the definitions of helpers.cu:
#include "evaluators/device/gpu/compare.cu"
#include "evaluators/device/gpu/timing.cu"
#undef __global__
#undef __device__
#undef __shared__

} // namespace winnow::evaluators::fake_device

namespace winnow::evaluators {

std::map<std::string, HostKernel> host_helper_kernels() {
  using namespace fake_device;
  std::map<std::string, HostKernel> kernels{
      {"winnow_generate", host_kernel(winnow_generate)},
      {"winnow_verify_generated", host_kernel(winnow_verify_generated)},
      {"winnow_fill_guard", host_kernel(winnow_fill_guard)},
      {"winnow_verify_guard", host_kernel(winnow_verify_guard)},
      {"winnow_fill", host_kernel(winnow_fill)},
      {"winnow_checksum", host_kernel(winnow_checksum)},
      {"winnow_read_all", host_kernel(winnow_read_all)},
      {"winnow_compare", host_kernel(winnow_compare)},
      {"winnow_count_differences", host_kernel(winnow_count_differences)},
      {"winnow_hold", host_kernel(winnow_hold)},
      {"winnow_stamp_clock", host_kernel(winnow_stamp_clock)},
      {"winnow_clock_step", host_kernel(winnow_clock_step)},
      {"winnow_clear_shared", {{8}, [](const std::vector<void*>&) {}}}};
  for (const char* bytes : {"256", "2048", "16384", "65536"}) {
    kernels[std::string("winnow_clear_local_") + bytes] = {{4, 4, 8},
                                                           [](const std::vector<void*>&) {}};
  }
  return kernels;
}

} // namespace winnow::evaluators
