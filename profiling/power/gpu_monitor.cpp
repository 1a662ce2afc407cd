#include "profiling/power/gpu_monitor.h"

#include "profiling/json_members.h"
#include "profiling/power/nvml.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr const char* kNvmlVariable = "WINNOW_NVML_LIBRARY";
constexpr const char* kInstall =
    "install the NVIDIA driver, or give the path of its libnvidia-ml.so.1 in WINNOW_NVML_LIBRARY; "
    "without NVML only clocks, temperature, power and energy are missing";

struct ReasonName {
  unsigned long long bit;
  const char* name;
};

// nvmlClocksEventReason*, formerly nvmlClocksThrottleReason*.
constexpr ReasonName kReasonNames[] = {
    {0x001, "idle"},
    {0x002, "clocks_setting"},
    {0x004, "power_cap"},
    {0x008, "hardware_slowdown"},
    {0x010, "sync_boost"},
    {0x020, "thermal_slowdown"},
    {0x040, "hardware_thermal_slowdown"},
    {0x080, "power_brake_slowdown"},
    {0x100, "display_clock_setting"},
};

std::vector<std::string> names_of(unsigned long long bits) {
  std::vector<std::string> names;
  for (const ReasonName& reason : kReasonNames) {
    if ((bits & reason.bit) != 0) {
      names.emplace_back(reason.name);
      bits &= ~reason.bit;
    }
  }
  if (bits != 0) { // bits newer than this list
    names.push_back(fmt::format("reason_{:#x}", bits));
  }
  return names;
}

std::string error_text(const nvml::Functions& nvml, nvml::Result result) {
  const char* text = nvml.error_string != nullptr ? nvml.error_string(result) : nullptr;
  return text != nullptr ? fmt::format("{} (error {})", text, result)
                         : fmt::format("error {}", result);
}

const char* remedy_of(nvml::Result result) {
  switch (result) {
  case nvml::kDriverNotLoaded:
    return "load the NVIDIA kernel module; a container needs the /dev/nvidia* files";
  case nvml::kVersionMismatch:
    return "reboot after a driver update, or give a container the host's libnvidia-ml.so.1";
  case nvml::kNoPermission:
    return "let this user read and write /dev/nvidiactl and /dev/nvidia*";
  case nvml::kNotFound:
    return "check that `nvidia-smi -L` lists the GPU";
  default:
    return "check `nvidia-smi`";
  }
}

// The number that `call` writes to its argument; nullopt if the call fails.
template <class Number, class Call> std::optional<double> number_of(Call call) {
  Number value = 0;
  if (call(&value) != nvml::kSuccess) {
    return std::nullopt;
  }
  return static_cast<double>(value);
}

// The type of the value differs between drivers.
std::optional<double> value_of(const nvml::FieldValue& field) {
  if (field.result != nvml::kSuccess) {
    return std::nullopt;
  }
  switch (field.type) {
  case 0:
    return field.value.as_double;
  case 1:
    return field.value.as_unsigned;
  case 2:
    return static_cast<double>(field.value.as_ulong);
  case 3:
    return static_cast<double>(field.value.as_ulonglong);
  case 4:
    return static_cast<double>(field.value.as_longlong);
  case 5:
    return field.value.as_int;
  default:
    return std::nullopt;
  }
}

class NvmlMonitor final : public GpuMonitor {
public:
  NvmlMonitor(const nvml::Functions& nvml, nvml::Device device) : nvml_(nvml), device_(device) {}
  ~NvmlMonitor() override { nvml_.shutdown(); }
  NvmlMonitor(const NvmlMonitor&) = delete; // one shutdown per init
  NvmlMonitor& operator=(const NvmlMonitor&) = delete;

  GpuState state() override {
    GpuState state;
    state.sm_clock_mhz = clock(nvml::kSmClock);
    state.memory_clock_mhz = clock(nvml::kMemoryClock);
    if (nvml_.temperature != nullptr) {
      state.temperature_c = number_of<unsigned>([this](unsigned* degrees) {
        return nvml_.temperature(device_, nvml::kGpuTemperature, degrees);
      });
    }
    state.power_w = power_w();
    unsigned long long bits = 0;
    if (nvml_.throttle_reasons != nullptr &&
        nvml_.throttle_reasons(device_, &bits) == nvml::kSuccess) {
      state.throttle_reasons = names_of(bits);
    }
    return state;
  }

  std::optional<double> energy_mj() override {
    unsigned long long energy = 0;
    if (nvml_.total_energy == nullptr || nvml_.total_energy(device_, &energy) != nvml::kSuccess) {
      return std::nullopt;
    }
    return static_cast<double>(energy);
  }

  std::optional<double> power_w() override {
    std::optional<double> milliwatts = instant_power_mw();
    unsigned average = 0;
    if (!milliwatts && nvml_.power_usage != nullptr &&
        nvml_.power_usage(device_, &average) == nvml::kSuccess) {
      milliwatts = average;
    }
    return milliwatts ? std::optional(*milliwatts / 1e3) : std::nullopt;
  }

private:
  std::optional<double> clock(int domain) {
    if (nvml_.clock_info == nullptr) {
      return std::nullopt;
    }
    return number_of<unsigned>(
        [this, domain](unsigned* mhz) { return nvml_.clock_info(device_, domain, mhz); });
  }

  std::optional<double> instant_power_mw() {
    nvml::FieldValue field;
    field.field = nvml::kFieldPowerInstant;
    if (nvml_.field_values == nullptr || nvml_.field_values(device_, 1, &field) != nvml::kSuccess) {
      return std::nullopt;
    }
    return value_of(field);
  }

  nvml::Functions nvml_;
  nvml::Device device_;
};

std::string version_of(const nvml::Functions& nvml) {
  char version[96] = {}; // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
  const bool known = nvml.driver_version != nullptr &&
                     nvml.driver_version(version, sizeof version - 1) == nvml::kSuccess;
  return known ? fmt::format("driver {}", version) : "driver of unknown version";
}

OpenedMonitor refusal(std::string why, std::string remedy) {
  return {nullptr, Availability::no(std::move(why), std::move(remedy))};
}

bool is_uuid(std::string_view name) {
  return name.rfind("GPU-", 0) == 0 || name.rfind("MIG-", 0) == 0;
}

} // namespace

OpenedMonitor make_gpu_monitor(std::string_view uuid_or_bus_id) {
  const char* named = std::getenv(kNvmlVariable);
  const std::string path = named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
  nvml::Functions nvml;
  std::string why;
  if (!nvml::load(path, nvml, why)) {
    return refusal(why, kInstall);
  }
  if (const nvml::Result result = nvml.init(); result != nvml::kSuccess) {
    return refusal(fmt::format("{}: nvmlInit fails: {}", path, error_text(nvml, result)),
                   remedy_of(result));
  }
  const std::string name(uuid_or_bus_id);
  nvml::Device device = nullptr;
  const nvml::Result result =
      is_uuid(name) ? nvml.by_uuid(name.c_str(), &device) : nvml.by_bus_id(name.c_str(), &device);
  if (result != nvml::kSuccess) {
    why = fmt::format("NVML does not give the GPU {}: {}", name, error_text(nvml, result));
    nvml.shutdown();
    return refusal(why, remedy_of(result));
  }
  const std::string found = fmt::format("NVML ({}), {}", path, version_of(nvml));
  return {std::make_unique<NvmlMonitor>(nvml, device), Availability::yes(found)};
}

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
