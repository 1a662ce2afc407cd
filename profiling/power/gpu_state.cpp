#include "profiling/json_members.h"
#include "profiling/power/gpu_monitor.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::profiling {

WINNOW_JSON_MEMBERS(GpuState, sm_clock_mhz, memory_clock_mhz, temperature_c, power_w,
                    throttle_reasons)

std::vector<std::string> transient_throttling(const GpuState& state) {
  std::vector<std::string> found;
  if (state.throttle_reasons) {
    std::copy_if(state.throttle_reasons->begin(), state.throttle_reasons->end(),
                 std::back_inserter(found), [](const std::string& reason) {
                   return reason != "idle" && reason != "clocks_setting" &&
                          reason != "display_clock_setting";
                 });
  }
  return found;
}

std::string gpu_uuid_text(const std::array<std::uint8_t, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", dash ? "-" : "", bytes[i]);
  }
  return text;
}

} // namespace winnow::profiling
