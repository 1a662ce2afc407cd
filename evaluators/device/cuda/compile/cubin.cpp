#include "evaluators/device/cuda/compile/cubin.h"

#include "base/digest.h"
#include "evaluators/device/compile/entry_symbols.h"
#include "evaluators/device/cuda/compile/ptxas_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <elf.h>

namespace winnow::evaluators {
namespace {

using tasks::KernelResources;

// An entry of .nv.info sections: format, attribute, then two bytes of value or, for the format
// "sized", the value's size. The numbers are those that cuobjdump -elf prints.
struct InfoEntry {
  std::uint8_t format = 0;
  std::uint8_t attribute = 0;
  std::string_view value;
};
constexpr std::uint8_t kSizedValue = 4;     // EIFMT_SVAL
constexpr std::uint8_t kParameterBank = 10; // EIATTR_PARAM_CBANK: begins with a symbol's index
constexpr std::uint8_t kFrameSize = 0x11;   // EIATTR_FRAME_SIZE: symbol, bytes
constexpr std::uint8_t kRegisters = 0x2f;   // EIATTR_REGCOUNT: symbol, count
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

// Symbol to value of the entries (symbol's index, value) of one attribute in .nv.info.
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

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// Collects what the kernels execute.
class CodeDigest {
public:
  CodeDigest(const ElfReader& cubin, std::vector<std::string> kernels)
      : cubin_(cubin), kernels_(std::move(kernels)), relocations_(cubin.relocations()) {}

  std::string run() {
    for (const std::string& kernel : kernels_) {
      add_kernel(kernel);
    }
    for (std::string& other : others()) {
      add("other", other);
    }
    return sha256_hex(text_);
  }

private:
  void add(std::string_view label, std::string_view bytes) {
    text_ += std::string(label) + " " + std::to_string(bytes.size()) + "\n";
    text_ += bytes;
  }

  void add_kernel(const std::string& kernel) {
    const std::size_t index = section_index(".text." + kernel);
    if (index == cubin_.sections().size()) {
      throw ElfError("the cubin has no kernel " + kernel);
    }
    add("code", cubin_.section_bytes(cubin_.sections()[index]));
    add("relocations", relocations_of(index));
    add("limits", limits_of(kernel));
    const ElfSection* shared = find_section(cubin_, ".nv.shared." + kernel);
    add("shared", std::to_string(shared == nullptr ? 0 : shared->size));
  }

  std::size_t section_index(const std::string& name) const {
    const auto& sections = cubin_.sections();
    const auto found =
        std::find_if(sections.begin(), sections.end(),
                     [&](const ElfSection& section) { return section.name == name; });
    return static_cast<std::size_t>(found - sections.begin());
  }

  // Names of the plan's kernels do not count, those of other symbols do: two sources that differ
  // in them only are taken for different, which costs a run and no more.
  std::string relocations_of(std::size_t section) const {
    std::string out;
    for (const ElfRelocation& relocation : relocations_) {
      if (relocation.section == section) {
        const auto kernel = std::find(kernels_.begin(), kernels_.end(), relocation.symbol);
        out += std::to_string(relocation.offset) + " " + std::to_string(relocation.type) + " " +
               std::to_string(relocation.addend) + " " +
               (kernel == kernels_.end() ? relocation.symbol
                                         : std::to_string(kernel - kernels_.begin())) +
               "\n";
      }
    }
    return out;
  }

  std::string limits_of(const std::string& kernel) const {
    std::string out;
    const ElfSection* info = find_section(cubin_, ".nv.info." + kernel);
    if (info == nullptr) {
      return out;
    }
    for (const InfoEntry& entry : read_info(cubin_.section_bytes(*info))) {
      if (entry.attribute != kParameterBank) {
        out += std::to_string(entry.attribute) + ":" + std::string(entry.value) + "\n";
      }
    }
    return out;
  }

  bool is_kernel_code(const ElfSection& section) const {
    return std::any_of(kernels_.begin(), kernels_.end(), [&](const std::string& kernel) {
      return section.name == ".text." + kernel;
    });
  }

  // Functions that kernels call, constant banks but those of parameters (0) and addresses (4), and
  // the initial values of variables. Sorted: their order follows their names.
  std::vector<std::string> others() const {
    std::vector<std::string> parts;
    for (const ElfSection& section : cubin_.sections()) {
      const bool code = starts_with(section.name, ".text.") && !is_kernel_code(section);
      const bool constants = starts_with(section.name, ".nv.constant") &&
                             !starts_with(section.name, ".nv.constant0") &&
                             !starts_with(section.name, ".nv.constant4");
      if (code || constants) {
        parts.push_back(std::string(code ? "code" : "constants") +
                        std::string(cubin_.section_bytes(section)));
      }
    }
    for (const ElfSymbol& symbol : cubin_.all_symbols()) {
      if (symbol.type == STT_OBJECT && symbol.section != SHN_UNDEF &&
          !starts_with(symbol.name, "winnow_")) {
        parts.push_back("variable " + std::to_string(symbol.size) + value_of(symbol));
      }
    }
    std::sort(parts.begin(), parts.end());
    return parts;
  }

  std::string value_of(const ElfSymbol& symbol) const {
    if (symbol.section >= cubin_.sections().size()) {
      return {};
    }
    const std::string_view bytes = cubin_.section_bytes(cubin_.sections()[symbol.section]);
    return std::string(
        bytes.substr(std::min<std::uint64_t>(symbol.value, bytes.size()), symbol.size));
  }

  const ElfReader& cubin_;
  std::vector<std::string> kernels_;
  std::vector<ElfRelocation> relocations_;
  std::string text_;
};

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

std::string cubin_digest(const ElfReader& cubin, const std::vector<std::string>& kernels,
                         const std::map<std::string, std::string>& symbols) {
  std::vector<std::string> names;
  names.reserve(kernels.size());
  for (const std::string& kernel : kernels) {
    names.push_back(symbol_of(symbols, kernel));
  }
  return CodeDigest(cubin, std::move(names)).run();
}

} // namespace winnow::evaluators
