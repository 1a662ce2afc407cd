#include "profiling/power/gpu_monitor.h"
#include "profiling/power/optional_json.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::profiling {

void to_json(nlohmann::json& json, const GpuState& state) {
  json = {{"sm_clock_mhz", json_of(state.sm_clock_mhz)},
          {"memory_clock_mhz", json_of(state.memory_clock_mhz)},
          {"temperature_c", json_of(state.temperature_c)},
          {"power_w", json_of(state.power_w)},
          {"throttle_reasons", json_of(state.throttle_reasons)}};
}

void from_json(const nlohmann::json& json, GpuState& state) {
  state.sm_clock_mhz = optional_value<double>(json, "sm_clock_mhz");
  state.memory_clock_mhz = optional_value<double>(json, "memory_clock_mhz");
  state.temperature_c = optional_value<double>(json, "temperature_c");
  state.power_w = optional_value<double>(json, "power_w");
  state.throttle_reasons = optional_value<std::vector<std::string>>(json, "throttle_reasons");
}

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
