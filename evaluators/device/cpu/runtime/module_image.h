#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace winnow::evaluators::cpu {

/// A variable of a module file. `offset` is from the load address, or from the start of the calling
/// thread's block of thread-local variables.
struct ModuleVariable {
  std::string name; ///< demangled: "tile(float*)::buffer"
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// What the ELF file of a module says about itself.
struct ModuleImage {
  std::vector<std::string> imports;    ///< undefined dynamic symbols
  std::vector<ModuleVariable> shared;  ///< `__shared__` arrays, by offset: thread-local
  std::vector<ModuleVariable> globals; ///< `__device__` variables: writable, of namespace scope
  std::vector<ModuleVariable> runtime; ///< thread-local, of winnow_core.h
  std::uint64_t thread_local_bytes = 0;

  /// Whether the thread-local variable there belongs to winnow_core.h.
  bool is_runtime_variable(std::uint64_t offset) const;
};

/// "tile(float*)::buffer" to "buffer".
std::string short_name(const std::string& demangled);

/// Throws Error when the file is no 64-bit ELF shared object of this machine.
ModuleImage read_module_image(const std::filesystem::path& path);

} // namespace winnow::evaluators::cpu
