#pragma once

#include "base/availability.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// A GPU at one moment. What is missing could not be read; none of it is ever 0 for that.
struct GpuState {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;   ///< of the whole board
  std::optional<double> energy_mj; ///< of the whole board, since the driver was loaded
  /// Why clocks are lower than they could be: "power_cap", "thermal_slowdown"; empty: for no
  /// reason. "idle" and "clocks_setting" are among them; see transient_throttling().
  std::optional<std::vector<std::string>> throttle_reasons;
};

void to_json(nlohmann::json& json, const GpuState& state);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, GpuState& state);

/// The reasons of `state` that come and go under load: a sample taken then is not like the others.
/// Neither "idle" nor fixed clocks are.
std::vector<std::string> transient_throttling(const GpuState& state);

/// Reads one GPU's sensors and changes nothing. Nothing throws: what cannot be read is absent. Not
/// for several threads at once: one thread measures, and it needs no lock.
class GpuMonitor {
public:
  virtual ~GpuMonitor() = default;
  /// Takes up to some milliseconds: between blocks of samples, not within them.
  virtual GpuState state() = 0;
  /// Moves every 20 to 100 ms; see energy.h.
  virtual std::optional<double> energy_mj() = 0;
  /// Of this moment where the driver tells (NVML field 186), else its average over about 1 s.
  virtual std::optional<double> power_w() = 0;
};

struct OpenedMonitor {
  std::unique_ptr<GpuMonitor> monitor; ///< null when not available
  Availability availability;           ///< when ok: library and driver
};

/// Monitors the NVIDIA GPU with that UUID ("GPU-..." or "MIG-...") or PCI bus id ("0000:17:00.0"),
/// through NVML; the library is libnvidia-ml.so.1 or what WINNOW_NVML_LIBRARY names. Never by
/// index: NVML counts all GPUs, CUDA those that are visible. In a process that is to be fenced
/// it is opened before the fence closes.
OpenedMonitor make_gpu_monitor(std::string_view uuid_or_bus_id);

/// The UUID that cuDeviceGetUuid gives, as NVML writes it: "GPU-8f6b3c1e-...".
std::string gpu_uuid_text(const std::array<std::uint8_t, 16>& bytes);

} // namespace winnow::profiling
