#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace winnow::evaluators::cpu {

/// A variable in a module file. `offset` counts from the load address or, for thread-local
/// variables, from the start of the calling thread's block.
struct ModuleVariable {
  std::string name; ///< demangled: "tile(float*)::buffer"
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The facts in a module's ELF file.
struct ModuleImage {
  std::vector<std::string> imports;      ///< undefined dynamic symbols
  std::vector<ModuleVariable> shared;    ///< thread-local `__shared__` arrays, by offset
  std::vector<ModuleVariable> globals;   ///< `__device__` variables: writable, at namespace scope
  std::vector<ModuleVariable> runtime;   ///< thread-local variables of winnow_core.h
  std::vector<ModuleVariable> constants; ///< sections that device code may read but not write
  std::uint64_t thread_local_bytes = 0;

  /// Whether these thread-local bytes are in a variable of winnow_core.h.
  bool in_runtime_variable(std::uint64_t offset, std::uint64_t bytes) const;
  /// Whether these bytes are constants. `offset` counts from the load address.
  bool in_constants(std::uint64_t offset, std::uint64_t bytes) const;
};

/// "tile(float*)::buffer" -> "buffer".
std::string short_name(const std::string& demangled);

/// Throws Error when the file is not a 64-bit ELF shared object of this machine.
ModuleImage read_module_image(const std::filesystem::path& path);

} // namespace winnow::evaluators::cpu
