#pragma once

#include "evaluators/device/compiler.h"
#include "evaluators/device/device_report.h"
#include "evaluators/host/machine_options.h"
#include "process/sandbox.h"

#include <filesystem>
#include <memory>

namespace winnow::evaluators {

/// The compiler for this device. Throws Error when this machine has none that works.
std::unique_ptr<Compiler> make_compiler(const DeviceReport& device, const process::Sandbox& sandbox,
                                        const MachineOptions& machine,
                                        const std::filesystem::path& cache);

} // namespace winnow::evaluators
