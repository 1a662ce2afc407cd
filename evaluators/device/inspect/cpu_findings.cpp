#include "evaluators/device/inspect/cpu_findings.h"

#include "evaluators/device/inspect/module_findings.h"
#include "evaluators/device/inspect/symbol_names.h"
#include "tasks/source/tokens.h"

#include <algorithm>
#include <set>

namespace winnow::evaluators {
namespace {

using tasks::Finding;
using tasks::FindingKind;
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
