// Plans the passes for a set of counters on a chip. Uses only CUPTI's host API: no GPU, no context,
// no driver. For the .cpp files of this folder only.
#pragma once

#include "profiling/counters/counter_names.h"
#include "profiling/counters/cupti_functions.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::profiling::cupti {

using Image = std::vector<std::uint8_t>;

struct Chip {
  std::string name;   ///< "GH100"
  Image availability; ///< from cuptiProfilerGetCounterAvailability; empty: everything
};

/// CUPTI's profiler host object: names, configuration and evaluation for one chip. `functions` and
/// `chip` must outlive it.
class HostObject {
public:
  /// Throws CuptiFailure if CUPTI does not know the chip.
  HostObject(const Functions& functions, const Chip& chip);
  ~HostObject();
  HostObject(HostObject&& other) noexcept;
  HostObject& operator=(HostObject&&) = delete;
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  /// Return CUPTI's result. `properties` fails for an unknown base name. Only `add` fails for a
  /// wrong suffix; after that failure the object is unusable.
  CUptiResult properties(const std::string& metric) const;
  CUptiResult add(std::span<const char*> metrics);
  /// Throws CuptiFailure.
  Image config_image() const;
  /// Reads one metric of one range from a decoded counter data image.
  CUptiResult evaluate(const std::string& metric, const Image& data, std::size_t range,
                       double& value) const;

private:
  const Functions& cupti_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// The number of passes of a configuration. Throws CuptiFailure.
std::size_t passes_of(const Functions& functions, const Image& config);

struct PlannedCounter {
  CounterName name;
  std::string metric; ///< name.metric or name.fallback
};

struct Plan {
  HostObject host; ///< has the metrics and evaluates them
  std::vector<PlannedCounter> counters;
  std::map<std::string, std::string> left_out; ///< key -> why
  Image config;
  std::size_t passes = 0;

  std::vector<const char*> metrics() const; ///< of `counters`, in order; valid while the plan lives
};

/// Why this chip cannot count `metric`; nullopt if it can. Tries the metric alone, so that a bad
/// name does not cost another counter. Throws CuptiFailure if the chip is unknown.
std::optional<std::string> refusal_of(const Functions& functions, const Chip& chip,
                                      const std::string& metric);

/// Throws CuptiFailure if the chip is unknown, has none of the counters, or cannot count them
/// together.
Plan make_plan(const Functions& functions, const Chip& chip, std::span<const CounterName> names);

} // namespace winnow::profiling::cupti
