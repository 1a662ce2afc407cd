#pragma once

#include <cstddef>
#include <string_view>

namespace winnow::evaluators {

/// Instructions of a function that read a clock or wait.
struct SassCounts {
  std::size_t clock_reads = 0;
  std::size_t global_timer_reads = 0;
  std::size_t sleeps = 0;
};

/// Reads machine code of compute capability 7.0 and later, where every instruction has 16 bytes; a
/// rest of fewer bytes is left out. The encodings are not published: the numbers were taken from
/// what NVRTC 13.0 makes of sm_75 to sm_120, and a test takes them again from the one at hand.
SassCounts count_sass(std::string_view code);

/// Whether "sm_90a" and the like has these instructions.
bool has_known_sass(std::string_view architecture);

} // namespace winnow::evaluators
