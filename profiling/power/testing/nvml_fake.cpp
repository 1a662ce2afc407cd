// The NVML functions that Winnow calls, for tests. The environment variable WINNOW_TEST_NVML_<NAME>
// sets the answer of a function; without it, the answer is "not supported" (3).
#include "profiling/power/nvml.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using winnow::profiling::nvml::Device;
using winnow::profiling::nvml::FieldValue;

constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
char the_device = 0;
int open_count = 0;

const char* variable(const char* name) {
  char full[128];
  std::snprintf(full, sizeof full, "WINNOW_TEST_NVML_%s", name);
  return std::getenv(full);
}

template <class Number> int answer(Device device, const char* name, Number* value) {
  const char* text = variable(name);
  if (text == nullptr || reinterpret_cast<char*>(device) != &the_device) {
    return kNotSupported;
  }
  *value = static_cast<Number>(std::strtoull(text, nullptr, 0));
  return 0;
}

int find(const char* wanted, const char* name, Device* device) {
  const char* known = variable(name);
  if (known == nullptr || std::strcmp(known, wanted) != 0) {
    return kNotFound;
  }
  *device = reinterpret_cast<Device>(&the_device);
  return 0;
}

} // namespace

extern "C" int nvmlInit_v2() {
  const char* text = variable("INIT");
  const int result = text != nullptr ? std::atoi(text) : 0;
  open_count += result == 0 ? 1 : 0;
  return result;
}

extern "C" int nvmlShutdown() {
  --open_count;
  return 0;
}

/// For tests: the number of starts without an end.
extern "C" int winnow_nvml_double_open() {
  return open_count;
}

extern "C" const char* nvmlErrorString(int result) {
  return result == kNotFound ? "Not Found" : "Some Error";
}

extern "C" int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::snprintf(version, length, "999.99.01");
  return 0;
}

extern "C" int nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  return find(uuid, "UUID", device);
}

extern "C" int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* device) {
  return find(bus_id, "BUS_ID", device);
}

extern "C" int nvmlDeviceGetClockInfo(Device device, int domain, unsigned* mhz) {
  return answer(device, domain == 1 ? "SM_CLOCK" : domain == 2 ? "MEMORY_CLOCK" : "NONE", mhz);
}

extern "C" int nvmlDeviceGetTemperature(Device device, int sensor, unsigned* degrees) {
  return answer(device, sensor == 0 ? "TEMPERATURE" : "NONE", degrees);
}

extern "C" int nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatts) {
  return answer(device, "POWER", milliwatts);
}

#ifdef NVML_DOUBLE_OLD
extern "C" int nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* bits) {
  return answer(device, "REASONS", bits);
}
#else
extern "C" int nvmlDeviceGetCurrentClocksEventReasons(Device device, unsigned long long* bits) {
  return answer(device, "REASONS", bits);
}

extern "C" int nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoules) {
  return answer(device, "ENERGY", millijoules);
}

extern "C" int nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    const char* type = variable("INSTANT_POWER_TYPE");
    values[i].type = type != nullptr ? std::atoi(type) : 1;
    values[i].value.as_ulonglong = 0;
    unsigned long long value = 0;
    values[i].result =
        values[i].field == 186 ? answer(device, "INSTANT_POWER", &value) : kNotSupported;
    if (values[i].type == 0) {
      values[i].value.as_double = static_cast<double>(value);
    } else {
      values[i].value.as_ulonglong = value;
    }
  }
  return 0;
}
#endif
