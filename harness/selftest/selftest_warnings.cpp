// The warnings of a selftest.
#include "harness/selftest/selftest_report.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using evaluators::KernelResult;

constexpr double kLoose = 0.1; // kernels of the catalogue reach 0.2

/// The largest error of the honest kernels, relative to the limit; 0 if there is none.
double worst_of_kernels(const TaskSelftest& selftest) {
  double worst = 0;
  for (const KernelResult& result : selftest.honest) {
    // reference.cu rounds only once, so its error is the smallest
    const bool kernel = result.file != "reference.cu";
    if (kernel && result.state == KernelResult::State::Accepted) {
      worst = std::max(worst, result.max_error_ratio);
    }
  }
  return worst;
}

std::string loose_tolerance(const TaskSelftest& selftest) {
  const double worst = worst_of_kernels(selftest);
  // If the task allows a lower precision than f32, honest kernels may still compute in f32, so
  // their errors say nothing. An error of 0 means that every operation is exact.
  // A module's limits follow from the errors of its own operations.
  const bool comparable = !selftest.is_module && tasks::epsilon(selftest.precision) <=
                                                     tasks::epsilon(tasks::Precision::F32);
  if (!comparable || worst <= 0 || worst >= kLoose) {
    return {};
  }
  return fmt::format(
      "the error of honest kernels is at most {:.2g} of the limit: the limit may be too large "
      "(`multiple` in [tolerance], or the magnitude in reference.cu); a usual limit is 2 to 10 "
      "times this error",
      worst);
}

std::string no_marks(const TaskSelftest& selftest) {
  const bool needs_marks = !selftest.is_module && selftest.precision != tasks::Precision::Int;
  return needs_marks && selftest.narrowed.empty()
             ? "no intermediate is marked in reference.cu, so nothing shows that the limit refuses "
               "coarser ones: mark them as NARROW(name, expression)"
             : "";
}

} // namespace

std::vector<std::string> warnings(const TaskSelftest& selftest) {
  std::vector<std::string> all = selftest.doubts;
  for (std::string warning :
       {selftest.memorisable, loose_tolerance(selftest), no_marks(selftest)}) {
    if (!warning.empty()) {
      all.push_back(std::move(warning));
    }
  }
  return all;
}

} // namespace winnow::harness
