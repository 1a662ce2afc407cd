#pragma once

#include "profiling/counters/counter_provider.h"

#include <memory>
#include <string>

namespace winnow::profiling {

/// A provider that has nothing and says why: `why` is not ok. It runs nothing.
std::unique_ptr<CounterProvider> make_no_counters(std::string provider, Availability why);

/// "why; remedy" of what is not ok, as CounterReport::unavailable says it.
std::string unavailable_text(const Availability& availability);

} // namespace winnow::profiling
