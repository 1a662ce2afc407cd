#pragma once

#include "base/text/number_text.h"
#include "tasks/result/evaluation.h"

#include <string>

namespace winnow::tasks {

/// Whether the ends of an interval lie further apart than a factor of 100: ten to either side.
bool is_unsure(const Bounds& bounds);
/// "1.98x"; "~2x" if its interval is_unsure(); empty for 0 and below.
std::string speedup_text(double speedup, const Bounds& bounds = {});
/// "1.93-2.03"; empty if not known.
std::string speedup_interval_text(const Bounds& bounds);

} // namespace winnow::tasks
