#pragma once

#include "evaluators/device/argument_bytes.h"
#include "evaluators/device/device_fault.h"
#include "evaluators/device/gpu/gpu_buffers.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/gpu_library.h"

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::evaluators::gpu {

/// The vendor's libraries that plans have used. They stay open, because opening one takes seconds.
class Libraries {
public:
  Libraries(GpuDriver& driver, GpuLibraryOpener open) : driver_(driver), open_(std::move(open)) {}
  /// Throws GpuError when this device has no library of that name.
  GpuLibrary& find(const std::string& name);

private:
  GpuDriver& driver_;
  GpuLibraryOpener open_;
  std::map<std::string, std::unique_ptr<GpuLibrary>> opened_;
};

/// A loaded module, and the steps of plans that launch its kernels. Throws GpuError.
class Steps {
public:
  Steps(GpuDriver& driver, Helpers& helpers, const GpuBuffers& buffers, Libraries& libraries)
      : driver_(driver), helpers_(helpers), buffers_(buffers), libraries_(libraries) {}
  ~Steps();
  Steps(const Steps&) = delete; // owns a module
  Steps& operator=(const Steps&) = delete;

  /// Replaces the loaded module. Throws Error when the file is for another device.
  void load_module(const std::filesystem::path& path);

  /// Returns a fault for the first fill or copy step that would write an input.
  std::optional<DeviceFault> refuse(const std::vector<tasks::Step>& steps) const;
  void queue(const tasks::Step& step);
  /// Queues library steps once before a recording, because their first call does work that a
  /// recording does not allow.
  void prepare_recording(const std::vector<tasks::Step>& steps);
  /// The resources of the kernel whose launch was refused, for a message; empty for other steps.
  std::string requirements(const tasks::Step& step);

private:
  void drop_module();
  GpuKernel kernel(const std::string& name);
  void queue_step(const tasks::LaunchStep& step);
  void queue_step(const tasks::FillStep& step);
  void queue_step(const tasks::CopyStep& step);
  void queue_step(const tasks::LibraryStep& step);

  GpuDriver& driver_;
  Helpers& helpers_;
  const GpuBuffers& buffers_;
  Libraries& libraries_;
  GpuModule module_ = 0;
  std::map<std::string, std::string> symbols_; ///< symbols in the module, by the plan's names
  std::map<std::string, GpuKernel> kernels_;   ///< kernels found so far
};

/// The argument values of one launch, with encoded tensor maps. Throws Error for an unknown buffer,
/// and GpuError for a tensor map that the driver refuses.
class Arguments {
public:
  Arguments(GpuDriver& driver, const GpuBuffers& buffers,
            const std::vector<tasks::ResolvedArgument>& arguments);
  Arguments(const Arguments&) = delete; // pointers_ points into this object
  Arguments& operator=(const Arguments&) = delete;

  const std::vector<void*>& pointers() const { return pointers_; }

private:
  std::deque<ArgumentBytes> values_; ///< a deque does not move its elements
  std::deque<TensorMapBytes> tensor_maps_;
  std::vector<void*> pointers_;
};

} // namespace winnow::evaluators::gpu
