#include "evaluators/timing/sampling.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace winnow::evaluators {
namespace {

constexpr double kTargetRelativeError = 0.002;
constexpr double kOverdraft = 4; // slow kernels may spend this many budgets on min_samples
constexpr double kMaxBytesPerNs = 128 * 6.0;
constexpr double kMaxOperationsPerNs = 64 * 6.0;
constexpr double kGpuMemoryFactor = 3;
constexpr double kGpuOperationsPerNs = 16384 * 2.5;

double relative_standard_error(const std::vector<double>& samples) {
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - mean) * (sample - mean);
  }
  return mean > 0 ? std::sqrt(squares / (count - 1) / count) / mean : 0;
}

} // namespace

bool more_samples(const SamplingRequest& request, const std::vector<double>& samples_ns,
                  double spent_ns) {
  const double budget_ns = static_cast<double>(std::chrono::nanoseconds(request.budget).count());
  const auto taken = static_cast<int>(samples_ns.size());
  if (taken == 0) {
    return true;
  }
  if (taken >= request.max_samples) {
    return false;
  }
  if (taken < request.min_samples) {
    return spent_ns < kOverdraft * budget_ns;
  }
  return spent_ns < budget_ns && relative_standard_error(samples_ns) > kTargetRelativeError;
}

double physical_floor_ns(double bytes, double operations, const tasks::DeviceFacts& facts) {
  const auto units = static_cast<double>(std::max<std::int64_t>(1, facts.sm_count));
  if (facts.peak_bytes_per_second > 0) {
    return std::max(bytes / (kGpuMemoryFactor * facts.peak_bytes_per_second * 1e-9),
                    operations / (kGpuOperationsPerNs * units));
  }
  return std::max(bytes / kMaxBytesPerNs, operations / kMaxOperationsPerNs) / units;
}

} // namespace winnow::evaluators
