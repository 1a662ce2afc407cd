#include "evaluators/evaluation/evaluation_options.h"

namespace winnow::evaluators {

std::chrono::milliseconds time_budget(const Protocol& protocol, std::string_view device_kind) {
  constexpr std::chrono::milliseconds kCpu{150};
  constexpr std::chrono::milliseconds kGpu{20}; // its clock is exact and it runs nothing else
  return protocol.time_budget.count() > 0 ? protocol.time_budget
         : device_kind == "cpu"           ? kCpu
                                          : kGpu;
}

} // namespace winnow::evaluators
