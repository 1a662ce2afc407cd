// What a set of counters takes on a chip. CUPTI's host API alone: no GPU, no context, no driver.
// For this folder's .cpp files only.
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
  Image availability; ///< what cuptiProfilerGetCounterAvailability gives; empty: everything
};

/// CUPTI's profiler host object: names, configuration and evaluation for one chip. `functions` and
/// `chip` stay alive for longer.
class HostObject {
public:
  /// Throws CuptiFailure: CUPTI does not know the chip.
  HostObject(const Functions& functions, const Chip& chip);
  ~HostObject();
  HostObject(HostObject&& other) noexcept;
  HostObject& operator=(HostObject&&) = delete;
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  /// CUPTI's answer. An unknown base name fails in `properties`, a wrong suffix in `add` only,
  /// after which the object is of no more use.
  CUptiResult properties(const std::string& metric) const;
  CUptiResult add(std::span<const char*> metrics);
  /// Throws CuptiFailure.
  Image config_image() const;
  /// Of one metric, in the only range of a decoded counter data image.
  CUptiResult evaluate(const std::string& metric, const Image& data, double& value) const;

private:
  const Functions& cupti_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// Passes that a configuration takes. Throws CuptiFailure.
std::size_t passes_of(const Functions& functions, const Image& config);

struct PlannedCounter {
  CounterName name;
  std::string metric; ///< name.metric or name.fallback
};

struct Plan {
  HostObject host; ///< that the metrics were added to: evaluates them
  std::vector<PlannedCounter> counters;
  std::map<std::string, std::string> left_out; ///< key -> why
  Image config;
  std::size_t passes = 0;

  std::vector<const char*> metrics() const; ///< of `counters`, in their order; lives as long
};

/// Why `metric` cannot be counted on this chip, or nullopt. Tries it alone, so that one bad name
/// never costs another counter. Throws CuptiFailure: the chip is unknown.
std::optional<std::string> refusal_of(const Functions& functions, const Chip& chip,
                                      const std::string& metric);

/// Throws CuptiFailure: the chip is unknown or has none of the counters, or they cannot be
/// configured together.
Plan make_plan(const Functions& functions, const Chip& chip, std::span<const CounterName> names);

} // namespace winnow::profiling::cupti
