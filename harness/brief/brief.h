#pragma once

#include "evaluators/device/device_report.h"
#include "profiling/roofline/ceilings.h"
#include "search/trial.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// How much of the speed of light a kernel reaches, 0 to 1. Empty: not known.
struct LightShares {
  std::optional<double> mean;             ///< evaluators::share_of_speed_of_light()
  std::map<std::string, double> by_shape; ///< of search shapes, by Shape as text
};
LightShares light_shares(const evaluators::DeviceReport& device, const tasks::Task& task,
                         const tasks::Evaluation& evaluation, const profiling::Ceilings& ceilings);

struct BriefFacts {
  std::string task, file, digest;
  std::string versus;         ///< what speedups are against
  bool only_compiled = false; ///< nothing was to be run
  LightShares light = {};
  std::vector<search::Trial> tried = {}; ///< choices of the parameters
};

/// A judged kernel for an agent that writes the next one, schema "winnow.brief": the verdict, the
/// feedback, the speed and the resources, at any length.
nlohmann::json brief_json(const BriefFacts& facts, const tasks::Evaluation& evaluation);
/// The same for a file that the machine has failed to judge.
nlohmann::json brief_json(const BriefFacts& facts, const std::string& fault);

/// The same with texts and lists shortened until it has fewer bytes as one line of JSON. Shortened
/// texts end in "[... N more bytes]" or "..."; "more" names the lists that have lost elements.
nlohmann::json fitted_brief(const nlohmann::json& brief);
constexpr std::size_t kBriefBytes = 4000;

} // namespace winnow::harness
