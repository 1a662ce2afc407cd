#pragma once

#include "base/fields.h"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

/// A feature of a compiled module that an honest kernel seldom needs. The numbers are stored.
enum class FindingKind {
  MutableGlobal = 1, ///< a module variable that the module writes; keeps its value between launches
  ClockRead = 2,     ///< a multiprocessor's cycle counter
  GlobalTimerRead = 3, ///< the GPU's clock in nanoseconds
  Nanosleep = 4,       ///< waits without working
  LocalMemory = 5,     ///< stack or spills: slow, but not suspicious
};

/// One feature in one module. Winnow reads findings from machine code and symbols, not from the
/// source text. A finding is a note for people: no verdict depends on it.
struct Finding {
  FindingKind kind = FindingKind::MutableGlobal;
  std::string detail; ///< "counter (4 bytes)", "scale<128>"

  bool operator==(const Finding&) const = default;
};
WINNOW_FIELDS(Finding, kind, detail)

std::string_view to_string(FindingKind kind); ///< "mutable_global"

/// The text for a table column: "keeps state, reads the clock". Lists once each kind of finding
/// that could help a kernel to recognise a launch or deceive the timing. Empty without such a
/// finding.
std::string annotations(const std::vector<Finding>& findings);

void to_json(nlohmann::json& json, const Finding& finding);
/// Throws Error.
void from_json(const nlohmann::json& json, Finding& finding);

} // namespace winnow::tasks
