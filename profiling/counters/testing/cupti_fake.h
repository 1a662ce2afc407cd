// A CUPTI for tests: its answers and a record of the calls. The library and the tests that load it
// share this file.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cuda.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>

namespace winnow::profiling {

struct CuptiDouble {
  // The answers. With these defaults every call succeeds, and every metric is kUsualValue.
  static constexpr double kUsualValue = 42.5;
  std::map<std::string, CUptiResult> failing;  ///< by function
  std::set<std::string> unknown_metrics;       ///< in properties()
  std::set<std::string> unschedulable_metrics; ///< fail when added, alone or with others
  std::set<std::string> unevaluable_metrics;
  std::map<std::string, double> values; ///< by metric; in range i the value is larger by i
  std::size_t planned_passes = 1;
  std::size_t needed_passes = 1;
  std::size_t dropped_ranges = 0;
  std::optional<std::size_t> ranges; ///< of the counter data; nullopt: all that were counted
  CUpti_Profiler_Support_Level supported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  CUpti_Profiler_Support_Level vgpu = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  CUpti_Profiler_Support_Level confidential = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  std::function<void(std::string_view function)> on_call; ///< may take time; may be empty

  // The record.
  std::vector<std::string> calls;    ///< functions, and texts that the test adds
  std::vector<std::string> mistakes; ///< of the caller: sizes, order, handles
  int initialised = 0;
  int hosts_open = 0;
  int hosts_made = 0;
  int ranges_open = 0;
};

} // namespace winnow::profiling

/// The only instance in the library. Assign {} to reset.
extern "C" winnow::profiling::CuptiDouble* cupti_double();
