#include "tasks/result/finding.h"

#include "base/text.h"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

struct KindText {
  FindingKind kind;
  std::string_view name;
  const char* annotation; ///< nullptr: not suspicious
};

constexpr KindText kKinds[] = {
    {FindingKind::MutableGlobal, "mutable_global", "keeps state"},
    {FindingKind::ClockRead, "clock_read", "reads the clock"},
    {FindingKind::GlobalTimerRead, "global_timer_read", "reads the global timer"},
    {FindingKind::Nanosleep, "nanosleep", "sleeps"},
    {FindingKind::LocalMemory, "local_memory", nullptr},
};

const KindText& text_of(FindingKind kind) {
  for (const KindText& entry : kKinds) {
    if (entry.kind == kind) {
      return entry;
    }
  }
  throw std::invalid_argument("no kind of finding has this number");
}

} // namespace

std::string_view to_string(FindingKind kind) {
  return text_of(kind).name;
}

std::optional<FindingKind> finding_kind_from_string(std::string_view name) {
  for (const KindText& entry : kKinds) {
    if (entry.name == name) {
      return entry.kind;
    }
  }
  return std::nullopt;
}

std::string annotations(const std::vector<Finding>& findings) {
  std::vector<std::string> parts;
  for (const KindText& entry : kKinds) {
    const bool found = std::any_of(findings.begin(), findings.end(),
                                   [&](const Finding& one) { return one.kind == entry.kind; });
    if (found && entry.annotation != nullptr) {
      parts.emplace_back(entry.annotation);
    }
  }
  return join(parts, ", ");
}

void to_json(nlohmann::json& json, const Finding& finding) {
  json = {{"kind", to_string(finding.kind)}, {"detail", to_valid_utf8(finding.detail)}};
}

void from_json(const nlohmann::json& json, Finding& finding) {
  const auto name = json.at("kind").get<std::string>();
  const auto kind = finding_kind_from_string(name);
  if (!kind) {
    throw std::invalid_argument("unknown kind of finding '" + name + "'");
  }
  finding.kind = *kind;
  json.at("detail").get_to(finding.detail);
}

} // namespace winnow::tasks
