#pragma once

#include "evaluators/device/cpu/abi.h"
#include "evaluators/device/cpu/runtime/module_image.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace winnow::evaluators::cpu {

/// A loaded CPU module. Throws Error when it cannot be loaded or has another ABI version.
class Module {
public:
  explicit Module(const std::filesystem::path& path);
  ~Module();
  Module(const Module&) = delete; // owns a handle of the dynamic loader
  Module& operator=(const Module&) = delete;

  /// Throws Error when the module has no such kernel.
  const WinnowKernel& kernel(const std::string& name) const;
  /// Whether a kernel may switch fibers. Then every block needs the scheduler.
  bool blocking() const { return blocking_; }
  /// Whether the module is instrumented for the checker.
  bool checked() const { return checked_; }

  /// Bytes of static shared memory that a block of this kernel uses.
  std::uint64_t static_shared_bytes(const std::string& kernel) const;
  const ModuleImage& image() const { return image_; }
  /// Where the calling OS thread has the module's shared arrays; null when the module has none.
  std::byte* thread_local_block() const;
  std::byte* load_address() const { return load_address_; }

private:
  template <class T> T symbol(const char* name) const;

  std::filesystem::path path_;
  void* handle_ = nullptr;
  ModuleImage image_;
  const WinnowKernel* kernels_ = nullptr;
  unsigned kernel_count_ = 0;
  void (*where_)(WinnowCoordinates*) = nullptr;
  std::byte* load_address_ = nullptr;
  bool blocking_ = false;
  bool checked_ = false;
};

} // namespace winnow::evaluators::cpu
