#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace winnow::evaluators {

/// The file is not a 64-bit ELF object of this machine, or its tables point outside of the file. A
/// module is built from a candidate's code, so the reader trusts nothing in it.
class ElfError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint64_t entry_size = 0;
  std::uint64_t flags = 0; ///< SHF_*
};

struct ElfSymbol {
  std::string name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint16_t section = 0; ///< index; 0: undefined
  std::uint8_t type = 0;     ///< STT_*
  std::uint8_t binding = 0;  ///< STB_*
};

/// Reads a shared object, a cubin or a GPU code object without loading it. Checks every access
/// against the file's size. All functions throw ElfError on a malformed file.
class ElfReader {
public:
  explicit ElfReader(std::string bytes);
  /// Reads the whole file. Also throws ElfError when the file cannot be read or exceeds 256 MiB.
  static ElfReader open(const std::filesystem::path& path);

  const std::vector<ElfSection>& sections() const { return sections_; }
  bool has_section(std::string_view name) const;
  /// The bytes of a section; empty when the section has none in the file.
  std::string_view section_bytes(const ElfSection& section) const;
  /// The symbols of .dynsym, which the loader sees. Empty without that section.
  std::vector<ElfSymbol> dynamic_symbols() const;
  /// The symbols of .symtab, which include local names. Empty without that section. Leaves out the
  /// empty symbol 0: symbol N of the file is element N - 1.
  std::vector<ElfSymbol> all_symbols() const;
  /// Names that the loader must find in other files.
  std::vector<std::string> undefined_symbols() const;
  /// The bytes of a defined symbol; nullopt when no symbol has that name. If the file has a table
  /// of dynamic symbols, only those count. A symbol without bytes in the file yields zeros, at most
  /// 4096.
  std::optional<std::string> read_symbol(std::string_view name) const;
  /// The tags in .dynamic (DT_*) before DT_NULL.
  std::vector<std::int64_t> dynamic_tags() const;
  /// The types of all relocations with an addend (R_X86_64_*, ...).
  std::vector<std::uint32_t> relocation_types() const;

private:
  template <class T> T read(std::uint64_t offset) const;
  std::string_view range(std::uint64_t offset, std::uint64_t size) const;
  std::string text_at(const ElfSection& strings, std::uint64_t offset) const;
  std::vector<ElfSymbol> symbols(std::uint32_t section_type) const;
  std::vector<Elf64_Rela> relocation_entries(const ElfSection& section) const;

  std::string bytes_;
  std::vector<ElfSection> sections_;
};

} // namespace winnow::evaluators
