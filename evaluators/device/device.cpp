#include "evaluators/device/device.h"

namespace winnow::evaluators {

profiling::CounterReport Device::count(const std::vector<tasks::Step>& /*steps*/,
                                       profiling::CounterSet /*set*/,
                                       const std::function<void()>& /*restore*/) {
  profiling::CounterReport report;
  report.provider = "none";
  report.unavailable = "this device has no counters";
  return report;
}

profiling::Energy Device::energy(const std::vector<tasks::Step>& /*steps*/) {
  profiling::Energy energy;
  energy.reason = "measured on NVIDIA GPUs only";
  return energy;
}

} // namespace winnow::evaluators
