#pragma once

#include "base/availability.h"
#include "evaluators/device/device_report.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_library.h"
#include "profiling/counters/counter_provider.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

class RuntimeCompiler;
struct CompiledImage;
struct GpuImageFacts;
struct GpuToolchain;

/// A program that writes the machine code of an image as text: `program options... IMAGE`.
struct Disassembler {
  const char* program;
  const char* options[2]; ///< nullptr: none
  const char* package;    ///< what it comes with
};

/// All that Winnow must know of a vendor of GPUs. device/vendors/ lists the vendors.
struct GpuVendor {
  std::string_view kind;           ///< of its devices, and of its folder in headers/: "cuda"
  std::string_view gpu;            ///< "an NVIDIA GPU"
  std::string_view status_program; ///< shows the GPUs of a machine: "nvidia-smi"

  const char* library_variable; ///< names another driver library: "WINNOW_CUDA_LIBRARY"
  /// Tell the driver which GPUs to show and in which order: "CUDA_VISIBLE_DEVICES".
  std::span<const char* const> variables;
  /// Every GPU that the driver reports. If there is none, a single entry with the
  /// reason. For child processes only.
  std::vector<DeviceReport> (*probe_devices)();
  /// Makes a context of the GPU current on this thread. Throws DeviceUnavailable. For worker
  /// processes only.
  std::unique_ptr<GpuDriver> (*open_driver)(int ordinal);
  /// See GpuLibraryOpener. nullptr: Winnow calls none of its libraries.
  std::unique_ptr<GpuLibrary> (*open_library)(const std::string& name, GpuDriver& driver);
  /// `context`: GpuDriver::context(). Never returns nullptr.
  std::unique_ptr<profiling::CounterProvider> (*open_counters)(void* context, int ordinal);

  std::string_view compiler; ///< "nvrtc"
  Availability (*probe_compiler)();
  /// The limits of a block of an architecture ("sm_90a"), for machines without such a GPU. Throws
  /// Error for an unknown architecture.
  tasks::DeviceFacts (*architecture_facts)(const std::string& architecture);
  std::string_view usual_architecture; ///< that a compilation without a GPU is for: "sm_90a"
  /// Throws Error, with the packages to install, when no compiler is found or it does not know the
  /// architecture.
  GpuToolchain (*find_toolchain)(const std::string& architecture);
  /// The options that are part of the key in the cache of modules.
  std::vector<std::string> (*compiler_options)(const std::string& architecture, bool fast_math);
  /// Loads the compiler's library. Throws Error when it cannot be loaded. For the fenced child
  /// only.
  std::unique_ptr<RuntimeCompiler> (*open_compiler)(const GpuToolchain& toolchain);
  /// Adds what only this vendor's images state: resources, advice, findings, features. Throws
  /// ElfError when the image is malformed.
  void (*read_image)(const CompiledImage& image, GpuImageFacts& facts);
  std::span<const Disassembler> disassemblers; ///< the best first
  bool compiler_writes_files;                  ///< the compiler's child needs a folder to write to
  /// Its GPUs lack the constructs that the CPU device lacks, above all inline PTX.
  bool lacks_inline_ptx;
};

} // namespace winnow::evaluators
