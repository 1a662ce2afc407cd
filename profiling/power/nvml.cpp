#include "profiling/power/nvml.h"

#include "base/function_finder.h"

#include <fmt/format.h>

namespace winnow::profiling::nvml {

bool load(const std::string& path, Functions& functions, std::string& why) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = fmt::format("cannot load NVML: {}", dlerror());
    return false;
  }
  const FunctionFinder finder(library);
  finder.find_if_there("nvmlInit_v2", functions.init);
  finder.find_if_there("nvmlShutdown", functions.shutdown);
  finder.find_if_there("nvmlErrorString", functions.error_string);
  finder.find_if_there("nvmlSystemGetDriverVersion", functions.driver_version);
  finder.find_if_there("nvmlDeviceGetHandleByUUID", functions.by_uuid);
  finder.find_if_there("nvmlDeviceGetHandleByPciBusId_v2", functions.by_bus_id);
  finder.find_if_there("nvmlDeviceGetClockInfo", functions.clock_info);
  finder.find_if_there("nvmlDeviceGetTemperature", functions.temperature);
  finder.find_if_there("nvmlDeviceGetPowerUsage", functions.power_usage);
  finder.find_if_there("nvmlDeviceGetTotalEnergyConsumption", functions.total_energy);
  finder.find_if_there("nvmlDeviceGetCurrentClocksEventReasons", functions.throttle_reasons);
  if (functions.throttle_reasons == nullptr) { // the older name
    finder.find_if_there("nvmlDeviceGetCurrentClocksThrottleReasons", functions.throttle_reasons);
  }
  finder.find_if_there("nvmlDeviceGetFieldValues", functions.field_values);
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
