#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::tasks {

/// What was seen in a compiled module that an honest kernel seldom needs. The numbers are stored.
enum class FindingKind {
  MutableGlobal = 1,   ///< memory of the module that it writes: it outlives a launch
  ClockRead = 2,       ///< a multiprocessor's cycle counter
  GlobalTimerRead = 3, ///< the GPU's clock in nanoseconds
  Nanosleep = 4,       ///< waits without working
  LocalMemory = 5,     ///< stack or spills; slow, never suspect
};

/// Taken from machine code and symbols, never from words of the source. Annotates: no verdict
/// follows from it.
struct Finding {
  FindingKind kind = FindingKind::MutableGlobal;
  std::string detail; ///< "counter (4 bytes)", "scale<128>"

  bool operator==(const Finding&) const = default;
};

std::string_view to_string(FindingKind kind); ///< "mutable_global"
std::optional<FindingKind> finding_kind_from_string(std::string_view name);

/// Each kind that could serve to tell launches apart or to deceive a stop watch, once, for a
/// column: "keeps state, reads the clock"; empty without any.
std::string annotations(const std::vector<Finding>& findings);

void to_json(nlohmann::json& json, const Finding& finding);
/// Throws nlohmann exceptions, and std::invalid_argument for a kind that is not known.
void from_json(const nlohmann::json& json, Finding& finding);

} // namespace winnow::tasks
