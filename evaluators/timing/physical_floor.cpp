#include "evaluators/timing/physical_floor.h"

#include <algorithm>
#include <cstdint>

namespace winnow::evaluators {
namespace {

constexpr double kMaxBytesPerNs = 128 * 6.0;
constexpr double kMaxOperationsPerNs = 64 * 6.0;
constexpr double kGpuMemoryFactor = 3;
constexpr double kGpuOperationsPerNs = 16384 * 2.5;

} // namespace

double physical_floor_ns(double bytes, double operations, const tasks::DeviceFacts& facts) {
  const auto units = static_cast<double>(std::max<std::int64_t>(1, facts.sm_count));
  if (facts.peak_bytes_per_second > 0) {
    return std::max(bytes / (kGpuMemoryFactor * facts.peak_bytes_per_second * 1e-9),
                    operations / (kGpuOperationsPerNs * units));
  }
  return std::max(bytes / kMaxBytesPerNs, operations / kMaxOperationsPerNs) / units;
}

} // namespace winnow::evaluators
