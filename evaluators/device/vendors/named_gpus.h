#pragma once

#include "evaluators/device/device_report.h"

#include <string>

namespace winnow::evaluators {

/// A GPU by the name of its model ("H100", "h100-pcie"; "NVIDIA H100" too), which this machine need
/// not have. The limits are those of its architecture; the number of multiprocessors, the caches,
/// the memory's peak and the clock are those of the vendor's data sheets. Throws UsageError, with
/// the known names, for any other name.
DeviceReport named_gpu(const std::string& name);

/// A GPU of which only the architecture is known ("sm_90a"). Its facts that differ from model to
/// model (multiprocessors, L2 cache, peak of the memory, clock) are not known: sm_count is 1, the
/// others 0. Throws UsageError or Error for an unknown architecture.
DeviceReport gpu_of_architecture(const std::string& kind, const std::string& architecture);

} // namespace winnow::evaluators
