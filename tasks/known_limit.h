#pragma once

#include <string_view>

namespace winnow::tasks {

/// Why nothing can say how near a kernel comes to the limit of this kind of device. Empty: the
/// share of the speed of light says so (docs/numbers.md). The only rule: profiles, boards, the
/// judge of trainers and prompts follow it.
constexpr std::string_view why_no_limit(std::string_view device_kind) {
  return device_kind == "cpu" ? "Winnow runs CUDA C++ on fibers on a CPU, so a share of the CPU's "
                                "limit would say nothing"
                              : "";
}

} // namespace winnow::tasks
