#pragma once

#include "profiling/counters/counter_provider.h"

#include <memory>
#include <string>

namespace winnow::profiling {

/// A provider without counters that runs nothing. `why` is not ok and has the reason.
std::unique_ptr<CounterProvider> make_no_counters(std::string provider, Availability why);

/// "why; remedy" of an Availability that is not ok, for CounterReport::unavailable.
std::string unavailable_text(const Availability& availability);

} // namespace winnow::profiling
