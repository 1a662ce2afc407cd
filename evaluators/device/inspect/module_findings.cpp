#include "evaluators/device/inspect/module_findings.h"

#include "base/text.h"
#include "tasks/source/tokens.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include <cxxabi.h>
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

using tasks::Token;

// Finds "bank" in "__constant__ float bank[8] = ...".
std::set<std::string> constant_names(const std::string& source) {
  const std::string text = tasks::normalise_source(source);
  std::set<std::string> names;
  bool constant = false;
  std::string last;
  for (const Token& token : tasks::tokenize(text)) {
    if (token.text == "__constant__") {
      constant = true;
    } else if (constant && token.kind == Token::Kind::Identifier) {
      last = token.text;
    } else if (constant &&
               (token.text == "[" || token.text == "=" || token.text == ";" || token.text == "{")) {
      names.insert(last);
      constant = false;
    }
  }
  return names;
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

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

std::string unqualified(const std::string& demangled) {
  std::string name = demangled.substr(0, demangled.find_first_of("(<"));
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

std::vector<Finding> inspect_cpu_module(const ElfReader& module, const std::string& source) {
  const std::set<std::string> constants = constant_names(source);
  std::vector<Finding> findings = writable_variables(module, [&](const std::string& symbol) {
    return constants.count(unqualified(demangle(symbol))) != 0;
  });
  const std::vector<std::string> calls = module.undefined_symbols();
  if (std::count(calls.begin(), calls.end(), "winnow_clock") > 0) {
    findings.push_back({FindingKind::ClockRead, "clock(), clock64() or a timer"});
  }
  if (std::count(calls.begin(), calls.end(), "winnow_yield") > 0) {
    findings.push_back({FindingKind::Nanosleep, "__nanosleep() or a spinning wait"});
  }
  return shorten(std::move(findings));
}

} // namespace winnow::evaluators
