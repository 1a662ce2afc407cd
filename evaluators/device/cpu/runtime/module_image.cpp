#include "evaluators/device/cpu/runtime/module_image.h"

#include "base/error.h"
#include "evaluators/device/inspect/elf_reader.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>
#include <elf.h>

namespace winnow::evaluators::cpu {
namespace {

std::string demangle(const std::string& name) {
  if (name.rfind("_Z", 0) != 0) { // else a variable `v` of C linkage would be called "void"
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text ? text.get() : name;
}

bool is_redzone(const std::string& name) {
  return name.find("winnow_redzone_") != std::string::npos;
}

bool is_own(const std::string& name) {
  return name.find("winnow_") != std::string::npos;
}

/// Whether the loader makes the section read-only after it has filled in addresses.
bool is_relocated_constant(const ElfSection& section) {
  return section.name.rfind(".data.rel.ro", 0) == 0;
}

bool is_writable(const ElfReader& file, const ElfSymbol& symbol) {
  if (symbol.section == SHN_UNDEF || symbol.section >= file.sections().size()) {
    return false;
  }
  const ElfSection& section = file.sections()[symbol.section];
  return (section.flags & SHF_WRITE) != 0 && !is_relocated_constant(section);
}

bool is_constant(const ElfSection& section) {
  constexpr std::uint64_t kOther = SHF_EXECINSTR | SHF_TLS;
  return section.type == SHT_PROGBITS && (section.flags & SHF_ALLOC) != 0 &&
         (section.flags & kOther) == 0 &&
         ((section.flags & SHF_WRITE) == 0 || is_relocated_constant(section));
}

bool in_one_of(const std::vector<ModuleVariable>& variables, std::uint64_t offset,
               std::uint64_t bytes) {
  return std::any_of(variables.begin(), variables.end(), [&](const ModuleVariable& variable) {
    return offset >= variable.offset && offset - variable.offset < variable.bytes &&
           bytes <= variable.bytes - (offset - variable.offset);
  });
}

ModuleImage image_of(const ElfReader& file) {
  ModuleImage image;
  image.imports = file.undefined_symbols();
  for (const ElfSymbol& symbol : file.all_symbols()) {
    if (symbol.size == 0 || symbol.section == SHN_UNDEF || is_redzone(symbol.name)) {
      continue;
    }
    if (is_own(symbol.name) && symbol.type == STT_TLS) {
      image.runtime.push_back({symbol.name, symbol.value, symbol.size});
    } else if (symbol.type == STT_TLS) {
      image.shared.push_back({demangle(symbol.name), symbol.value, symbol.size});
    } else if (symbol.type == STT_OBJECT && is_writable(file, symbol)) {
      image.globals.push_back({demangle(symbol.name), symbol.value, symbol.size});
    }
  }
  const auto by_offset = [](const ModuleVariable& a, const ModuleVariable& b) {
    return a.offset < b.offset;
  };
  std::sort(image.shared.begin(), image.shared.end(), by_offset);
  std::sort(image.globals.begin(), image.globals.end(), by_offset);
  for (const ElfSection& section : file.sections()) {
    if (section.name == ".tbss" || section.name == ".tdata") {
      image.thread_local_bytes += section.size;
    }
    if (is_constant(section)) {
      image.constants.push_back({section.name, section.address, section.size});
    }
  }
  return image;
}

} // namespace

bool ModuleImage::in_runtime_variable(std::uint64_t offset, std::uint64_t bytes) const {
  return in_one_of(runtime, offset, bytes);
}

bool ModuleImage::in_constants(std::uint64_t offset, std::uint64_t bytes) const {
  return in_one_of(constants, offset, bytes);
}

std::string short_name(const std::string& demangled) {
  const std::size_t scope = demangled.rfind("::");
  return scope == std::string::npos ? demangled : demangled.substr(scope + 2);
}

ModuleImage read_module_image(const std::filesystem::path& path) {
  try {
    return image_of(ElfReader::open(path));
  } catch (const ElfError& error) {
    throw Error("'" + path.string() + "' is not a compiled CPU module: " + error.what(),
                "delete the file from the cache; Winnow makes it again");
  }
}

} // namespace winnow::evaluators::cpu
