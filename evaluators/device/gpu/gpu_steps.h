// For gpu_device.cpp only.
#pragma once

#include "evaluators/device/argument_bytes.h"
#include "evaluators/device/device_fault.h"
#include "evaluators/device/gpu/gpu_buffers.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/gpu_library.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace winnow::evaluators::gpu {

/// The vendor's libraries that plans have used. They stay open, because opening one takes seconds.
class Libraries {
public:
  Libraries(GpuDriver& driver, GpuLibraryOpener open) : driver_(driver), open_(std::move(open)) {}
  /// Throws GpuError when this device has no library of that name.
  GpuLibrary& find(const std::string& name) {
    std::unique_ptr<GpuLibrary>& library = opened_[name];
    if (library == nullptr && open_) {
      library = open_(name, driver_);
    }
    if (library == nullptr) {
      throw GpuError("open", name, "this device has no such library", GpuFailure::InvalidLaunch,
                     false);
    }
    return *library;
  }

private:
  GpuDriver& driver_;
  GpuLibraryOpener open_;
  std::map<std::string, std::unique_ptr<GpuLibrary>> opened_;
};

/// The argument values of one launch, with encoded tensor maps. Throws Error for an unknown buffer,
/// and GpuError for a tensor map that the driver refuses.
class Arguments {
public:
  Arguments(GpuDriver& driver, const GpuBuffers& buffers,
            const std::vector<tasks::ResolvedArgument>& arguments) {
    using Kind = tasks::ResolvedArgument::Kind;
    pointers_.reserve(arguments.size());
    for (const tasks::ResolvedArgument& argument : arguments) {
      if (argument.kind == Kind::TensorMap) {
        const tasks::ResolvedTensorMap& map = *argument.tensor_map;
        tensor_maps_.push_back(driver.encode(map, buffers.range(map.buffer, map.offset_bytes, 0)));
        pointers_.push_back(&tensor_maps_.back());
        continue;
      }
      if (argument.kind != Kind::Pointer) {
        values_.push_back(scalar_bytes(argument));
      } else if (argument.buffer.empty()) {
        values_.push_back({}); // a null pointer
      } else {
        values_.push_back(address_bytes(buffers.range(argument.buffer, argument.offset_bytes, 0)));
      }
      pointers_.push_back(&values_.back());
    }
  }
  Arguments(const Arguments&) = delete; // pointers_ points into this object
  Arguments& operator=(const Arguments&) = delete;

  const std::vector<void*>& pointers() const { return pointers_; }

private:
  std::deque<ArgumentBytes> values_; ///< a deque does not move its elements
  std::deque<TensorMapBytes> tensor_maps_;
  std::vector<void*> pointers_;
};

/// A loaded module, and the steps of plans that launch its kernels. Throws GpuError.
class Steps {
public:
  Steps(GpuDriver& driver, Helpers& helpers, const GpuBuffers& buffers, Libraries& libraries)
      : driver_(driver), helpers_(helpers), buffers_(buffers), libraries_(libraries) {}
  ~Steps() {
    try {
      drop_module();
    } catch (const GpuError&) { // the context is lost, and the module with it
    }
  }
  Steps(const Steps&) = delete; // owns a module
  Steps& operator=(const Steps&) = delete;

  /// Replaces the loaded module. Throws Error when the file is for another device.
  void load_module(const std::filesystem::path& path) {
    drop_module();
    GpuModuleFile file = read_gpu_module(path);
    if (const std::string here = driver_.facts().architecture; file.architecture != here) {
      throw Error(fmt::format("the module {} is for {}, but this device is {}", path.string(),
                              file.architecture, here),
                  "compile it for this device");
    }
    module_ = driver_.load_module(file.image);
    symbols_ = std::move(file.symbols);
  }

  /// Returns a fault for the first fill or copy step that would write an input.
  std::optional<DeviceFault> refuse(const std::vector<tasks::Step>& steps) const {
    const auto is_input = [this](const std::string& name) {
      const GpuBuffer* buffer = buffers_.find(name);
      return buffer != nullptr && buffer->read_only;
    };
    for (const tasks::Step& step : steps) {
      if (const auto* fill = std::get_if<tasks::FillStep>(&step); fill && is_input(fill->buffer)) {
        return DeviceFault{tasks::Verdict::ModifiedInput,
                           "a fill step writes input '" + fill->buffer + "'"};
      }
      if (const auto* copy = std::get_if<tasks::CopyStep>(&step); copy && is_input(copy->to)) {
        return DeviceFault{tasks::Verdict::ModifiedInput,
                           "a copy step writes input '" + copy->to + "'"};
      }
    }
    return std::nullopt;
  }
  void queue(const tasks::Step& step) {
    std::visit([this](const auto& one) { queue_step(one); }, step);
  }
  /// Queues library steps once before a recording, because their first call does work that a
  /// recording does not allow.
  void prepare_recording(const std::vector<tasks::Step>& steps) {
    for (const tasks::Step& step : steps) {
      if (const auto* library = std::get_if<tasks::LibraryStep>(&step)) {
        queue_step(*library);
      }
    }
  }
  /// The resources of the kernel whose launch was refused, for a message; empty for other steps.
  std::string requirements(const tasks::Step& step) {
    const auto* launch = std::get_if<tasks::LaunchStep>(&step);
    if (launch == nullptr) {
      return {};
    }
    const GpuKernelFacts facts = driver_.kernel_facts(kernel(launch->kernel));
    return fmt::format("; the kernel takes {} registers and {} bytes of stack per thread, {} bytes "
                       "of static shared memory, and at most {} threads per block",
                       facts.registers, facts.local_bytes, facts.static_shared_bytes,
                       facts.max_threads);
  }

private:
  static std::array<unsigned, 3> to_unsigned(const std::array<std::int64_t, 3>& size) {
    return {static_cast<unsigned>(size[0]), static_cast<unsigned>(size[1]),
            static_cast<unsigned>(size[2])};
  }

  void drop_module() {
    kernels_.clear();
    symbols_.clear();
    if (module_ != 0) {
      driver_.unload_module(std::exchange(module_, 0));
    }
  }
  GpuKernel kernel(const std::string& name) {
    if (const auto found = kernels_.find(name); found != kernels_.end()) {
      return found->second;
    }
    const auto symbol = symbols_.find(name);
    if (symbol == symbols_.end()) {
      throw Error("the module has no kernel '" + name + "'");
    }
    return kernels_.emplace(name, driver_.find_kernel(module_, symbol->second)).first->second;
  }
  void queue_step(const tasks::LaunchStep& step) {
    const Arguments arguments(driver_, buffers_, step.arguments);
    GpuLaunch launch;
    launch.kernel = kernel(step.kernel);
    launch.grid = to_unsigned(step.grid);
    launch.block = to_unsigned(step.block);
    launch.cluster = to_unsigned(step.cluster);
    launch.shared_bytes = static_cast<unsigned>(step.shared_bytes);
    launch.cooperative = step.cooperative;
    launch.arguments = arguments.pointers();
    driver_.launch(launch);
  }
  void queue_step(const tasks::FillStep& step) {
    const std::size_t element_bytes = tasks::size_bytes(step.dtype);
    const auto count = static_cast<std::size_t>(step.count);
    std::uint64_t element = 0;
    tasks::store_element(step.dtype, &element, step.value); // little-endian: the low bytes
    const GpuAddress to =
        buffers_.range(step.buffer, step.offset_bytes, step.count * std::int64_t(element_bytes));
    if (element_bytes == sizeof(element)) { // wider than a driver's fill
      helpers_.fill({to, count * element_bytes}, element);
    } else if (count > 0) {
      driver_.fill(to, static_cast<std::uint32_t>(element), static_cast<int>(element_bytes), count);
    }
  }
  void queue_step(const tasks::CopyStep& step) {
    if (step.rows == 0 || step.row_bytes == 0) {
      return;
    }
    const auto extent = [&step](std::int64_t stride) {
      return (step.rows - 1) * stride + step.row_bytes;
    };
    driver_.copy(buffers_.range(step.to, step.to_offset_bytes, extent(step.to_stride_bytes)),
                 static_cast<std::size_t>(step.to_stride_bytes),
                 buffers_.range(step.from, step.from_offset_bytes, extent(step.from_stride_bytes)),
                 static_cast<std::size_t>(step.from_stride_bytes),
                 static_cast<std::size_t>(step.row_bytes), static_cast<std::size_t>(step.rows));
  }
  void queue_step(const tasks::LibraryStep& step) {
    GpuLibrary& library = libraries_.find(step.library);
    std::vector<GpuAddress> addresses;
    for (const tasks::LibraryOperand& operand : step.operands) {
      const auto element_bytes = static_cast<std::int64_t>(tasks::size_bytes(operand.dtype));
      addresses.push_back(buffers_.range(operand.buffer, 0, operand.count * element_bytes));
    }
    library.queue(step, addresses);
  }

  GpuDriver& driver_;
  Helpers& helpers_;
  const GpuBuffers& buffers_;
  Libraries& libraries_;
  GpuModule module_ = 0;
  std::map<std::string, std::string> symbols_; ///< symbols in the module, by the plan's names
  std::map<std::string, GpuKernel> kernels_;   ///< kernels found so far
};

} // namespace winnow::evaluators::gpu
