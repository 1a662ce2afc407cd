#pragma once

#include "base/text/number_text.h"
#include "tasks/result/evaluation.h"

#include <string>

namespace winnow::store {

/// Whether the ends of an interval lie further apart than a factor of 100: ten to either side.
bool is_unsure(const tasks::Bounds& bounds);
/// "1.98x"; "~2x" if its interval is_unsure(); empty for 0 and below.
std::string speedup_text(double speedup, const tasks::Bounds& bounds = {});
/// "1.93-2.03"; empty if not known.
std::string speedup_interval_text(const tasks::Bounds& bounds);
/// "$0.0840"
std::string dollars_text(double dollars);

} // namespace winnow::store
