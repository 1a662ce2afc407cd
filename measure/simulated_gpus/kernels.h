#pragma once

#include "evaluators/device/gpu/testing/host_kernels.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace winnow::simulated_gpus {

using Arguments = std::vector<void*>;

struct Kernel {
  std::size_t parameters = 0;
  std::function<void(const Arguments&)> run;
  std::function<std::chrono::nanoseconds(const Arguments&)> time; ///< on an H100
};

/// The kernels that the simulation knows: Winnow's helper kernels, the kernels of the task axpy,
/// `axpy_trap`, which traps, and those that measure bandwidth and launch. Any other kernel computes
/// nothing and takes 10 us.
const Kernel& kernel_called(const std::string& symbol);

} // namespace winnow::simulated_gpus
