#pragma once

#include "tasks/result/evaluation.h"

#include <string>

namespace winnow::harness {

/// A speedup or a share: two decimals; two digits of a small number, so that it never reads as 0.
/// docs/numbers.md has the rules; the page for browsers writes numbers by the same ones.
std::string number_text(double value);
/// "1.98x"; empty for 0 and below.
std::string speedup_text(double speedup);
/// "1.93-2.03"; empty if not known.
std::string speedup_interval_text(const tasks::Bounds& bounds);
/// "$0.0840"
std::string dollars_text(double dollars);

} // namespace winnow::harness
