#pragma once

#include "base/availability.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// One GPU as its driver describes it, or the reason why there is none.
struct GpuProbe {
  int ordinal = -1;       ///< -1: no driver or no device; see `availability`
  std::string name;       ///< "NVIDIA H200"
  std::string uuid;       ///< "GPU-8f6b..."
  std::string pci_bus_id; ///< "0000:17:00.0"
  std::string driver;     ///< "CUDA 13.0"
  tasks::DeviceFacts facts;
  Availability availability;
};

/// The format in which a probing child reports. from_json throws Error.
void to_json(nlohmann::json& json, const GpuProbe& probe);
void from_json(const nlohmann::json& json, GpuProbe& probe);

} // namespace winnow::evaluators
