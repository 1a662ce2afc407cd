// The used part of NVML, only reading functions. CUDA's toolkit may come without nvml.h, so this
// file declares names, numbers and layouts from NVIDIA's NVML API reference.
#pragma once

#include <string>

namespace winnow::profiling::nvml {

struct OpaqueDevice;
using Device = OpaqueDevice*;
using Result = int; ///< nvmlReturn_t

constexpr Result kSuccess = 0;
constexpr Result kNoPermission = 4;
constexpr Result kNotFound = 6;
constexpr Result kDriverNotLoaded = 9;
constexpr Result kVersionMismatch = 18;

constexpr int kSmClock = 1; ///< nvmlClockType_t
constexpr int kMemoryClock = 2;
constexpr int kGpuTemperature = 0;           ///< nvmlTemperatureSensors_t
constexpr unsigned kFieldPowerInstant = 186; ///< NVML_FI_DEV_POWER_INSTANT, milliwatts

/// nvmlFieldValue_t
struct FieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp_us = 0;
  long long latency_us = 0;
  int type = 0; ///< of `value`, nvmlValueType_t: 0 double, 1 unsigned, ...
  Result result = 0;
  union {
    double as_double = 0;
    int as_int;
    unsigned as_unsigned;
    unsigned long as_ulong;
    unsigned long long as_ulonglong;
    long long as_longlong;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

/// A pointer is null if the library lacks the function, as old drivers do.
struct Functions {
  Result (*init)() = nullptr;
  Result (*shutdown)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;
  Result (*by_uuid)(const char*, Device*) = nullptr;
  Result (*by_bus_id)(const char*, Device*) = nullptr;
  Result (*clock_info)(Device, int, unsigned*) = nullptr;            ///< MHz
  Result (*temperature)(Device, int, unsigned*) = nullptr;           ///< degrees Celsius
  Result (*power_usage)(Device, unsigned*) = nullptr;                ///< mW
  Result (*total_energy)(Device, unsigned long long*) = nullptr;     ///< mJ
  Result (*throttle_reasons)(Device, unsigned long long*) = nullptr; ///< bits
  Result (*field_values)(Device, int, FieldValue*) = nullptr;
};

/// Loads the library and never unloads it. On failure returns false and writes the reason to `why`.
bool load(const std::string& path, Functions& functions, std::string& why);

} // namespace winnow::profiling::nvml
