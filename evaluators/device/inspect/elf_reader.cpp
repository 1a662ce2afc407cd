#include "evaluators/device/inspect/elf_reader.h"

#include "base/error.h"
#include "base/files.h"

#include <algorithm>
#include <cstring>

#include <elf.h>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMaxSections = 10'000;
constexpr std::uint64_t kMaxSymbols = 1'000'000;
constexpr std::uint64_t kMaxElfNameBytes = 4096;

} // namespace

template <class T> T ElfReader::read(std::uint64_t offset) const {
  T value;
  std::memcpy(&value, range(offset, sizeof(T)).data(), sizeof(T));
  return value;
}

std::string_view ElfReader::range(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    throw ElfError("a table of the module points outside of the file");
  }
  return std::string_view(bytes_).substr(offset, size);
}

std::string ElfReader::text_at(const ElfSection& strings, std::uint64_t offset) const {
  const std::string_view table = range(strings.offset, strings.size);
  if (offset >= table.size()) {
    throw ElfError("a name of the module lies outside of its string table");
  }
  const std::string_view rest = table.substr(offset, kMaxElfNameBytes);
  return std::string(rest.substr(0, rest.find('\0')));
}

ElfReader::ElfReader(std::string bytes) : bytes_(std::move(bytes)) {
  const auto header = read<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    throw ElfError("the module is not a 64-bit little-endian ELF file");
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > kMaxSections) {
    throw ElfError("the module's section table is malformed");
  }
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto raw = read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (raw.sh_type != SHT_NOBITS) {
      range(raw.sh_offset, raw.sh_size);
    }
    sections_.push_back({"", raw.sh_type, raw.sh_addr, raw.sh_offset, raw.sh_size, raw.sh_link,
                         raw.sh_entsize, raw.sh_flags});
    names.push_back(raw.sh_name);
  }
  if (sections_.empty()) {
    return;
  }
  if (header.e_shstrndx >= sections_.size() || sections_[header.e_shstrndx].type != SHT_STRTAB) {
    throw ElfError("the module has no section names");
  }
  const ElfSection strings = sections_[header.e_shstrndx];
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    sections_[i].name = text_at(strings, names[i]);
  }
}

ElfReader ElfReader::open(const std::filesystem::path& path) {
  try {
    return ElfReader(read_file(path, kMaxModuleBytes));
  } catch (const Error& error) {
    throw ElfError(error.what());
  }
}

std::vector<Elf64_Rela> ElfReader::relocation_entries(const ElfSection& section) const {
  std::vector<Elf64_Rela> entries;
  if (section.type != SHT_RELA) {
    return entries;
  }
  if (section.size / sizeof(Elf64_Rela) > kMaxSymbols) {
    throw ElfError("a relocation table of the module is malformed");
  }
  for (std::uint64_t i = 0; i < section.size / sizeof(Elf64_Rela); ++i) {
    entries.push_back(read<Elf64_Rela>(section.offset + i * sizeof(Elf64_Rela)));
  }
  return entries;
}

bool ElfReader::has_section(std::string_view name) const {
  for (const ElfSection& section : sections_) {
    if (section.name == name) {
      return true;
    }
  }
  return false;
}

std::string_view ElfReader::section_bytes(const ElfSection& section) const {
  return section.type == SHT_NOBITS ? std::string_view() : range(section.offset, section.size);
}

std::vector<ElfSymbol> ElfReader::symbols(std::uint32_t section_type) const {
  std::vector<ElfSymbol> all;
  for (const ElfSection& table : sections_) {
    if (table.type != section_type) {
      continue;
    }
    if (table.link >= sections_.size() || sections_[table.link].type != SHT_STRTAB ||
        table.size / sizeof(Elf64_Sym) > kMaxSymbols) {
      throw ElfError("a symbol table of the module is malformed");
    }
    for (std::uint64_t i = 1; i < table.size / sizeof(Elf64_Sym); ++i) {
      const auto raw = read<Elf64_Sym>(table.offset + i * sizeof(Elf64_Sym));
      all.push_back({text_at(sections_[table.link], raw.st_name), raw.st_value, raw.st_size,
                     raw.st_shndx, static_cast<std::uint8_t>(ELF64_ST_TYPE(raw.st_info)),
                     static_cast<std::uint8_t>(ELF64_ST_BIND(raw.st_info))});
    }
  }
  return all;
}

std::vector<ElfSymbol> ElfReader::dynamic_symbols() const {
  return symbols(SHT_DYNSYM);
}

std::vector<ElfSymbol> ElfReader::all_symbols() const {
  return symbols(SHT_SYMTAB);
}

std::vector<std::string> ElfReader::undefined_symbols() const {
  std::vector<std::string> names;
  for (ElfSymbol& symbol : dynamic_symbols()) {
    if (symbol.section == SHN_UNDEF && !symbol.name.empty()) {
      names.push_back(std::move(symbol.name));
    }
  }
  return names;
}

std::optional<std::string> ElfReader::read_symbol(std::string_view name) const {
  for (const ElfSymbol& symbol : has_section(".dynsym") ? dynamic_symbols() : all_symbols()) {
    if (symbol.name != name || symbol.section == SHN_UNDEF) {
      continue;
    }
    if (symbol.section >= sections_.size()) {
      throw ElfError("a symbol of the module lies in no section");
    }
    const ElfSection& section = sections_[symbol.section];
    if (symbol.value < section.address || symbol.value - section.address > section.size ||
        symbol.size > section.size - (symbol.value - section.address)) {
      throw ElfError("a symbol of the module lies outside of its section");
    }
    if (section.type == SHT_NOBITS) { // the section for zero-initialised variables
      // The size of the file limits neither the section nor the symbol.
      constexpr std::uint64_t kMaxZeros = 4096;
      return std::string(std::min(symbol.size, kMaxZeros), '\0');
    }
    return std::string(range(section.offset + (symbol.value - section.address), symbol.size));
  }
  return std::nullopt;
}

std::vector<std::int64_t> ElfReader::dynamic_tags() const {
  std::vector<std::int64_t> tags;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_DYNAMIC) {
      continue;
    }
    for (std::uint64_t i = 0; i < section.size / sizeof(Elf64_Dyn); ++i) {
      const auto entry = read<Elf64_Dyn>(section.offset + i * sizeof(Elf64_Dyn));
      if (entry.d_tag == DT_NULL) {
        break;
      }
      tags.push_back(entry.d_tag);
    }
  }
  return tags;
}

std::vector<std::uint32_t> ElfReader::relocation_types() const {
  std::vector<std::uint32_t> types;
  for (const ElfSection& section : sections_) {
    for (const Elf64_Rela& entry : relocation_entries(section)) {
      types.push_back(static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info)));
    }
  }
  return types;
}

} // namespace winnow::evaluators
