#include "evaluators/device/inspect/cubin.h"

#include "evaluators/device/inspect/entry_symbols.h"
#include "evaluators/device/inspect/ptxas_log.h"

#include <algorithm>
#include <cstring>

namespace winnow::evaluators {
namespace {

using tasks::KernelResources;

// An entry of a .nv.info section: format, attribute, then two bytes. The two bytes are the value
// or, for the format "sized", the value's size. The numbers below are those that cuobjdump -elf
// prints.
struct InfoEntry {
  std::uint8_t format = 0;
  std::uint8_t attribute = 0;
  std::string_view value;
};
constexpr std::uint8_t kSizedValue = 4;   // EIFMT_SVAL
constexpr std::uint8_t kFrameSize = 0x11; // EIATTR_FRAME_SIZE: symbol, bytes
constexpr std::uint8_t kRegisters = 0x2f; // EIATTR_REGCOUNT: symbol, count
constexpr std::size_t kEntryBytes = 4;

std::vector<InfoEntry> read_info(std::string_view bytes) {
  std::vector<InfoEntry> entries;
  while (bytes.size() >= kEntryBytes) {
    InfoEntry entry{static_cast<std::uint8_t>(bytes[0]), static_cast<std::uint8_t>(bytes[1]),
                    bytes.substr(2, 2)};
    std::size_t used = kEntryBytes;
    if (entry.format == kSizedValue) {
      std::uint16_t size = 0;
      std::memcpy(&size, entry.value.data(), sizeof size);
      if (size > bytes.size() - kEntryBytes) {
        throw ElfError("a table of the cubin is cut off");
      }
      entry.value = bytes.substr(kEntryBytes, size);
      used += size;
    }
    entries.push_back(entry);
    bytes.remove_prefix(used);
  }
  return entries;
}

std::uint32_t word(std::string_view bytes, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

const ElfSection* find_section(const ElfReader& cubin, const std::string& name) {
  for (const ElfSection& section : cubin.sections()) {
    if (section.name == name) {
      return &section;
    }
  }
  return nullptr;
}

// Maps symbols to values: the entries (symbol index, value) of one attribute in .nv.info.
std::map<std::string, int> info_values(const ElfReader& cubin, std::uint8_t attribute) {
  std::map<std::string, int> values;
  const ElfSection* section = find_section(cubin, ".nv.info");
  if (section == nullptr) {
    return values;
  }
  const std::vector<ElfSymbol> names = cubin.all_symbols();
  for (const InfoEntry& entry : read_info(cubin.section_bytes(*section))) {
    constexpr std::size_t kTwoWords = 8;
    if (entry.format != kSizedValue || entry.attribute != attribute ||
        entry.value.size() < kTwoWords) {
      continue;
    }
    const std::uint32_t symbol = word(entry.value, 0);
    if (symbol >= 1 && symbol <= names.size()) {
      values[names[symbol - 1].name] = static_cast<int>(word(entry.value, 1) & 0x7fffffffU);
    }
  }
  return values;
}

int value_or(const std::map<std::string, int>& values, const std::string& symbol, int otherwise) {
  const auto found = values.find(symbol);
  return found == values.end() ? otherwise : found->second;
}

} // namespace

std::vector<KernelResources> read_cubin_resources(const ElfReader& cubin,
                                                  const std::vector<std::string>& kernels,
                                                  const std::map<std::string, std::string>& symbols,
                                                  const std::string& log) {
  const auto registers = info_values(cubin, kRegisters);
  const auto frames = info_values(cubin, kFrameSize);
  const auto usage = read_ptxas_usage(log);
  std::vector<KernelResources> all;
  for (const std::string& kernel : kernels) {
    const std::string symbol = symbol_of(symbols, kernel);
    if (find_section(cubin, ".text." + symbol) == nullptr) {
      throw ElfError("the cubin has no kernel " + symbol);
    }
    const auto found = usage.find(symbol);
    const PtxasUsage said = found == usage.end() ? PtxasUsage() : found->second;
    all.push_back({kernel, value_or(registers, symbol, said.registers), said.spill_store_bytes,
                   said.spill_load_bytes, value_or(frames, symbol, said.stack_bytes),
                   said.shared_bytes});
  }
  return all;
}

} // namespace winnow::evaluators
