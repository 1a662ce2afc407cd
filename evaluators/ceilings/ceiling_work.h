#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// The work of one launch of a kernel in kernels/*.cu. The plans in those files use the same
/// numbers.
enum class CeilingWork : std::uint8_t {
  Copy = 0,
  Nothing = 1,
  F32 = 2,
  F64 = 3,
  F16Tensor = 4,
  Bf16Tensor = 5,
  Tf32Tensor = 6,
  F8Tensor = 7,
  I8Tensor = 8,
};

/// One measurement: a launch repeats `work` from this file `passes` times.
struct CeilingLaunch {
  std::string file; ///< "gpu.cu"
  CeilingWork work = CeilingWork::Nothing;
  std::int64_t elements = 1; ///< number of floats in the output; a copy reads as many
  std::int64_t passes = 1;
};

struct CopyWork {
  CeilingLaunch launch;
  double bytes = 0;  ///< of the working set: source and destination
  double moved = 0;  ///< bytes read and written by one launch
  std::string level; ///< BandwidthPoint::level
  /// Measures launches with the caches as the previous launch left them.
  bool warm = false;
};

struct RateWork {
  std::string kind; ///< "f16_tensor": the key in Ceilings::rates
  CeilingLaunch launch;
  double operations = 0; ///< per launch; a fused multiply-add counts as two
};

/// All measurements on one device.
struct CeilingPlan {
  CeilingLaunch nothing;
  std::vector<CopyWork> copies; ///< by growing size
  std::vector<RateWork> rates;
  /// Kinds that the device lacks, or for which there is no kernel
  std::map<std::string, std::string> no_rate;
};

/// Sizes of a CPU's caches in bytes: L1 and L2 of one core, L3 of all cores together; 0: unknown.
struct CpuCaches {
  std::int64_t l1 = 0, l2 = 0, l3 = 0;
};
/// The caches of this machine; `cores` is the number of cores in use.
CpuCaches cpu_caches(std::int64_t cores);

/// The measurements for a kind of device.
///
/// GPUs: working sets from 1 MiB to 1 GiB. A set of at most half of the L2 cache has the level
/// "L2", a set of at least four times the L2 cache has the level "DRAM" (cold), a set in between
/// "L2 and DRAM". Unless its level is "DRAM", a set is copied so often per launch that 512 MiB
/// move. Otherwise the launch overhead would count.
///
/// CPU: working sets from 16 KiB to 64 MiB, or to four times the L3 cache, but at most to 512 MiB.
CeilingPlan ceiling_plan(std::string_view device_kind, const tasks::DeviceFacts& facts,
                         const CpuCaches& caches);

/// The text of kernels/`file`. Throws Error when the file does not exist.
std::string_view ceiling_kernel(std::string_view file);

/// The task that kernels/*.cu solve: one output, three axes. `launches` become its shapes.
tasks::Task ceiling_task(const std::vector<CeilingLaunch>& launches);

} // namespace winnow::evaluators
