#pragma once

#include "base/availability.h"
#include "evaluators/device/device_report.h"
#include "process/sandbox.h"

#include <string>
#include <vector>

namespace winnow::evaluators {

/// Opens a context on a GPU in a child process with the same fences as a worker of that level. Not
/// available while another Winnow process uses the GPU.
Availability probe_context(const DeviceReport& device, process::Isolation level);

/// Entry point of the hidden subcommand `_context`, which opens it.
int context_probe_worker_main(std::vector<std::string> arguments);

} // namespace winnow::evaluators
