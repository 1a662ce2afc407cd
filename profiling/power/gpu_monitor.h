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

/// The state of a GPU at one moment. A value that could not be read is absent, never 0.
struct GpuState {
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_w; ///< of the whole board
  /// Why the clocks are below their maximum: "power_cap", "thermal_slowdown"; empty: no reason. The
  /// list may contain "idle" and "clocks_setting"; see transient_throttling().
  std::optional<std::vector<std::string>> throttle_reasons;
};

void to_json(nlohmann::json& json, const GpuState& state);
/// Throws nlohmann exceptions.
void from_json(const nlohmann::json& json, GpuState& state);

/// The reasons in `state` that come and go under load, without "idle" and fixed clocks. A sample
/// with such a reason is not comparable to the others.
std::vector<std::string> transient_throttling(const GpuState& state);

/// Reads the sensors of one GPU and changes nothing. Never throws: a value that cannot be read is
/// absent. Not thread-safe; only the measuring thread uses it.
class GpuMonitor {
public:
  virtual ~GpuMonitor() = default;
  /// Call it between blocks of samples.
  virtual GpuState state() = 0;
  /// Of the whole board, since the driver was loaded. The counter moves every 20 to 100 ms; see
  /// energy.h. NVML takes 4 ms to read it on an H200.
  virtual std::optional<double> energy_mj() = 0;
  /// The momentary power if the driver has it (NVML field 186), else the average over about 1 s.
  virtual std::optional<double> power_w() = 0;
};

struct OpenedMonitor {
  std::unique_ptr<GpuMonitor> monitor; ///< null if not available
  Availability availability;           ///< if ok: library and driver
};

/// Monitors, through NVML, the NVIDIA GPU with this UUID ("GPU-..." or "MIG-...") or PCI bus id
/// ("0000:17:00.0"). The library is libnvidia-ml.so.1 or WINNOW_NVML_LIBRARY. There is no access by
/// index, because NVML counts all GPUs, but CUDA only the visible ones. A process with a sandbox
/// must open the monitor before it enters the sandbox.
OpenedMonitor make_gpu_monitor(std::string_view uuid_or_bus_id);

/// The UUID from cuDeviceGetUuid in NVML's notation: "GPU-8f6b3c1e-...".
std::string gpu_uuid_text(const std::array<std::uint8_t, 16>& bytes);

} // namespace winnow::profiling
