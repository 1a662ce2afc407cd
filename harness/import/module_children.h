#pragma once

#include "evaluators/host/device_host.h"
#include "harness/import/import_modules.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace winnow::harness {

/// Torch children that look at modules side by side, on one device. A child that dies or takes too
/// long is replaced for the next module.
class ModuleChildren {
public:
  /// Starts the first child, so that a missing PyTorch is told at once. Throws Error,
  /// DeviceUnavailable.
  ModuleChildren(const evaluators::DeviceReport& device, const evaluators::MachineOptions& machine,
                 std::size_t count);

  const std::string& torch_version() const { return children_.front()->version(); }
  /// One for each child. `timeout`: for one module.
  std::vector<Describe> describers(std::chrono::milliseconds timeout,
                                   const std::function<bool()>& cancelled);

private:
  evaluators::GpuLock lock_;
  process::Sandbox sandbox_;
  evaluators::Arena no_tensors_; ///< descriptions need no shared memory
  std::vector<std::unique_ptr<evaluators::TorchChild>> children_;
};

/// How many children suit this machine: one for each core, as far as its memory and that of the
/// device go. `memory_bytes`: for all tensors of a shape.
std::size_t suitable_children(const evaluators::DeviceReport& device, std::uint64_t memory_bytes);

} // namespace winnow::harness
