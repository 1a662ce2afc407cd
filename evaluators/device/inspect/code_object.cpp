#include "evaluators/device/inspect/code_object.h"

#include "evaluators/device/inspect/entry_symbols.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <elf.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::KernelResources;

constexpr std::uint32_t kMetadataNote = 32; // NT_AMDGPU_METADATA
constexpr int kRegisterBytes = 4;
constexpr std::size_t kMaxMetadataBytes = std::size_t{4} << 20U;

std::size_t padded(std::uint32_t bytes) {
  return (std::size_t{bytes} + 3) & ~std::size_t{3};
}

nlohmann::json find_note(std::string_view bytes) {
  while (bytes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::size_t begin = sizeof header + padded(header.n_namesz);
    if (begin > bytes.size() || header.n_descsz > bytes.size() - begin) {
      throw ElfError("a note of the code object is cut off");
    }
    if (header.n_type == kMetadataNote && header.n_descsz <= kMaxMetadataBytes) {
      return nlohmann::json::from_msgpack(bytes.substr(begin, header.n_descsz), true, false);
    }
    bytes.remove_prefix(std::min(bytes.size(), begin + padded(header.n_descsz)));
  }
  return {};
}

nlohmann::json kernel_list(const ElfReader& code) {
  for (const ElfSection& section : code.sections()) {
    if (section.type != SHT_NOTE) {
      continue;
    }
    const nlohmann::json metadata = find_note(code.section_bytes(section));
    if (metadata.is_object() && metadata.contains("amdhsa.kernels") &&
        metadata["amdhsa.kernels"].is_array()) {
      return metadata["amdhsa.kernels"];
    }
  }
  return nlohmann::json::array();
}

int number(const nlohmann::json& kernel, const char* key) {
  const auto found = kernel.find(key);
  constexpr std::uint64_t kMax = 1U << 30U;
  return found != kernel.end() && found->is_number_unsigned() && found->get<std::uint64_t>() <= kMax
             ? found->get<int>()
             : 0;
}

KernelResources resources_of(const nlohmann::json& list, const std::string& kernel,
                             const std::string& symbol) {
  for (const nlohmann::json& entry : list) {
    if (!entry.is_object() || entry.value(".name", std::string()) != symbol) {
      continue;
    }
    KernelResources out;
    out.kernel = kernel;
    out.registers = number(entry, ".vgpr_count");
    out.spill_store_bytes = kRegisterBytes * number(entry, ".vgpr_spill_count");
    out.spill_load_bytes = out.spill_store_bytes;
    out.stack_bytes = number(entry, ".private_segment_fixed_size");
    out.static_shared_bytes = number(entry, ".group_segment_fixed_size");
    return out;
  }
  throw ElfError("the code object does not describe kernel '" + kernel + "'");
}

} // namespace

std::vector<KernelResources>
read_code_object_resources(const ElfReader& code, const std::vector<std::string>& kernels,
                           const std::map<std::string, std::string>& symbols) {
  const nlohmann::json list = kernel_list(code);
  std::vector<KernelResources> all;
  all.reserve(kernels.size());
  for (const std::string& kernel : kernels) {
    all.push_back(resources_of(list, kernel, symbol_of(symbols, kernel)));
  }
  return all;
}

} // namespace winnow::evaluators
