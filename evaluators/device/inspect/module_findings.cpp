#include "evaluators/device/inspect/module_findings.h"

#include "base/text.h"
#include "evaluators/device/inspect/symbol_names.h"

#include <algorithm>
#include <map>

#include <elf.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Finding;
using tasks::FindingKind;

constexpr std::size_t kMaxShownNameBytes = 120;
constexpr std::size_t kMaxOfAKind = 8;

// Sections that the loader writes once and then makes read-only, or that belong to the linker.
bool is_of_the_loader(const std::string& section) {
  return section.rfind(".data.rel.ro", 0) == 0 || section.rfind(".got", 0) == 0 ||
         section == ".dynamic" || section == ".init_array";
}

} // namespace

std::string shown_name(const std::string& symbol) {
  return truncate_text(to_valid_utf8(demangle(symbol)), kMaxShownNameBytes);
}

Finding mutable_global(const ElfSymbol& symbol) {
  return {FindingKind::MutableGlobal, fmt::format("{} ({} byte{})", shown_name(symbol.name),
                                                  symbol.size, symbol.size == 1 ? "" : "s")};
}

std::vector<Finding> writable_variables(const ElfReader& module,
                                        const std::function<bool(const std::string&)>& is_known) {
  const bool dynamic_only = !module.has_section(".symtab");
  std::vector<Finding> findings;
  for (const ElfSymbol& symbol : dynamic_only ? module.dynamic_symbols() : module.all_symbols()) {
    if (symbol.type != STT_OBJECT || symbol.size == 0 || symbol.section == SHN_UNDEF ||
        symbol.section >= module.sections().size()) {
      continue;
    }
    const ElfSection& section = module.sections()[symbol.section];
    if ((section.flags & SHF_WRITE) != 0 && !is_of_the_loader(section.name) &&
        !is_known(symbol.name)) {
      findings.push_back(mutable_global(symbol));
    }
  }
  return findings;
}

std::vector<Finding> local_memory(const std::vector<tasks::KernelResources>& kernels) {
  std::vector<Finding> findings;
  for (const tasks::KernelResources& kernel : kernels) {
    const int spills = kernel.spill_store_bytes + kernel.spill_load_bytes;
    if (kernel.stack_bytes > 0 || spills > 0) {
      findings.push_back(
          {FindingKind::LocalMemory, fmt::format("{}: {} bytes of stack, {} bytes of spills",
                                                 kernel.kernel, kernel.stack_bytes, spills)});
    }
  }
  return findings;
}

std::vector<Finding> shorten(std::vector<Finding> findings) {
  std::map<FindingKind, std::size_t> counts;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    if (++counts[finding.kind] <= kMaxOfAKind) {
      kept.push_back(std::move(finding));
    }
  }
  for (const auto& [kind, count] : counts) {
    if (count > kMaxOfAKind) {
      kept.push_back({kind, fmt::format("and {} more", count - kMaxOfAKind)});
    }
  }
  return kept;
}

} // namespace winnow::evaluators
