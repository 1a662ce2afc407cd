#include "evaluators/device/inspect/cubin_findings.h"

#include "evaluators/device/inspect/module_findings.h"
#include "evaluators/device/inspect/sass.h"

#include <cctype>
#include <string_view>

#include <elf.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Finding;
using tasks::FindingKind;

constexpr std::string_view kCode = ".text.";

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// The text has the name once more than where it defines the variable. A constant whose value the
// compiler has put into the code remains as a variable that no instruction names.
bool is_used(std::string_view ptx, std::string_view name) {
  std::size_t count = 0;
  for (std::size_t at = ptx.find(name); at != std::string_view::npos; at = ptx.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool is_whole = (at == 0 || !is_part_of_name(ptx[at - 1])) &&
                          (end == ptx.size() || !is_part_of_name(ptx[end]));
    count += is_whole ? 1 : 0;
  }
  return count > 1;
}

// A constant table has values; a variable in which a kernel stores data usually starts as zeros.
// Neither PTX nor a cubin says which variables are written.
std::vector<Finding> find_globals(const ElfReader& cubin, std::string_view ptx) {
  std::vector<Finding> findings;
  for (const ElfSymbol& symbol : cubin.all_symbols()) {
    if (symbol.type != STT_OBJECT || symbol.section == SHN_UNDEF ||
        symbol.section >= cubin.sections().size()) {
      continue;
    }
    if (cubin.sections()[symbol.section].name == ".nv.global" &&
        (ptx.empty() || is_used(ptx, symbol.name))) {
      findings.push_back(mutable_global(symbol));
    }
  }
  return findings;
}

// A kernel's name in the plan, or the C++ name of another function.
std::string function_name(const std::string& symbol,
                          const std::map<std::string, std::string>& symbols) {
  for (const auto& [kernel, its_symbol] : symbols) {
    if (its_symbol == symbol) {
      return kernel;
    }
  }
  return shown_name(symbol);
}

void add(std::vector<Finding>& findings, FindingKind kind, const std::string& function,
         std::size_t count) {
  if (count > 0) {
    findings.push_back(
        {kind, fmt::format("{}: {} instruction{}", function, count, count == 1 ? "" : "s")});
  }
}

} // namespace

std::vector<Finding> inspect_cubin(const ElfReader& cubin,
                                   const std::map<std::string, std::string>& symbols,
                                   const std::string& architecture, std::string_view ptx) {
  std::vector<Finding> findings = find_globals(cubin, ptx);
  if (!has_known_sass(architecture)) {
    return findings;
  }
  for (const ElfSection& section : cubin.sections()) {
    if (section.name.rfind(kCode, 0) != 0) {
      continue;
    }
    const SassCounts counts = count_sass(cubin.section_bytes(section));
    const std::string function = function_name(section.name.substr(kCode.size()), symbols);
    add(findings, FindingKind::ClockRead, function, counts.clock_reads);
    add(findings, FindingKind::GlobalTimerRead, function, counts.global_timer_reads);
    add(findings, FindingKind::Nanosleep, function, counts.sleeps);
  }
  return findings;
}

} // namespace winnow::evaluators
