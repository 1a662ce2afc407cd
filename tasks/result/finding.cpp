#include "tasks/result/finding.h"

#include "base/text.h"

#include <algorithm>
#include <stdexcept>

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

} // namespace winnow::tasks
