#pragma once

#include "tasks/plan/device_facts.h"
#include "tasks/task.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// What a launch of one of kernels/*.cu does; the numbers are those in their plans.
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

/// One measurement: `work` in this file, repeated `passes` times within a launch.
struct CeilingLaunch {
  std::string file; ///< "gpu.cu"
  CeilingWork work = CeilingWork::Nothing;
  std::int64_t elements = 1; ///< floats of the output, and of what is copied to it
  std::int64_t passes = 1;
};

struct CopyWork {
  CeilingLaunch launch;
  double bytes = 0;  ///< of the working set: what is read and what is written
  double moved = 0;  ///< bytes read and written by one launch
  std::string level; ///< BandwidthPoint::level
  bool warm = false; ///< what counts are launches with the caches as the launch before left them
};

struct RateWork {
  std::string kind; ///< "f16_tensor": the key in Ceilings::rates
  CeilingLaunch launch;
  double operations = 0; ///< of one launch; a fused multiply-add is two
};

/// All that is measured on one device.
struct CeilingPlan {
  CeilingLaunch nothing;
  std::vector<CopyWork> copies; ///< with growing size
  std::vector<RateWork> rates;
  std::map<std::string, std::string> no_rate; ///< kinds that the device lacks, or nothing here asks
};

/// Bytes of a cpu's caches: L1 and L2 of one core, L3 of all cores together; 0: unknown.
struct CpuCaches {
  std::int64_t l1 = 0, l2 = 0, l3 = 0;
};
/// Of the machine that this runs on, of which `cores` are used.
CpuCaches cpu_caches(std::int64_t cores);

/// On GPUs working sets from 1 MiB to 1 GiB. Up to half of the L2 cache they are "L2", from four
/// times its size on "DRAM" (cold), in between "L2 and DRAM"; what is not "DRAM" is copied so often
/// in a launch that 512 MiB move, or launching would count. On a cpu from 16 KiB to 64 MiB, or to
/// four times its L3 cache, but at most 512 MiB.
CeilingPlan ceiling_plan(std::string_view device_kind, const tasks::DeviceFacts& facts,
                         const CpuCaches& caches);

/// The text of kernels/`file`. Throws Error when there is no such file.
std::string_view ceiling_kernel(std::string_view file);

/// The problem that kernels/*.cu solve: one output, three axes. `launches` become its shapes.
tasks::Task ceiling_task(const std::vector<CeilingLaunch>& launches);

} // namespace winnow::evaluators
