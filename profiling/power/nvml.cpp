#include "profiling/power/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace winnow::profiling::nvml {
namespace {

template <class Function> void resolve(void* library, const char* symbol, Function& function) {
  if (function == nullptr) {
    function = reinterpret_cast<Function>(dlsym(library, symbol));
  }
}

} // namespace

bool load(const std::string& path, Functions& functions, std::string& why) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = fmt::format("cannot load NVML: {}", dlerror());
    return false;
  }
  resolve(library, "nvmlInit_v2", functions.init);
  resolve(library, "nvmlShutdown", functions.shutdown);
  resolve(library, "nvmlErrorString", functions.error_string);
  resolve(library, "nvmlSystemGetDriverVersion", functions.driver_version);
  resolve(library, "nvmlDeviceGetHandleByUUID", functions.by_uuid);
  resolve(library, "nvmlDeviceGetHandleByPciBusId_v2", functions.by_bus_id);
  resolve(library, "nvmlDeviceGetClockInfo", functions.clock_info);
  resolve(library, "nvmlDeviceGetTemperature", functions.temperature);
  resolve(library, "nvmlDeviceGetPowerUsage", functions.power_usage);
  resolve(library, "nvmlDeviceGetTotalEnergyConsumption", functions.total_energy);
  resolve(library, "nvmlDeviceGetCurrentClocksEventReasons", functions.throttle_reasons);
  resolve(library, "nvmlDeviceGetCurrentClocksThrottleReasons", functions.throttle_reasons);
  resolve(library, "nvmlDeviceGetFieldValues", functions.field_values);
  if (functions.init == nullptr || functions.shutdown == nullptr || functions.by_uuid == nullptr ||
      functions.by_bus_id == nullptr) {
    why = fmt::format("{} is not NVML: it lacks nvmlInit_v2, nvmlShutdown, "
                      "nvmlDeviceGetHandleByUUID or nvmlDeviceGetHandleByPciBusId_v2",
                      path);
    dlclose(library);
    return false;
  }
  return true;
}

} // namespace winnow::profiling::nvml
