#pragma once

#include "evaluators/device/device_report.h"

#include <string>

namespace winnow::harness {

/// A GPU whose facts a command needs, and which this machine need not have.
struct TargetGpu {
  evaluators::DeviceReport device;
  bool is_model = false; ///< false: only its architecture is known (gpu_of_architecture())
};

/// `device`: "best" or a kind of GPU. `gpu`: the name of a model; empty: none. `architecture`:
/// "sm_90a"; empty: that of the model, or the usual one of the kind. Throws UsageError and Error.
TargetGpu target_gpu(const std::string& device, const std::string& gpu,
                     const std::string& architecture);

} // namespace winnow::harness
