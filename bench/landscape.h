#pragma once

#include "tasks/plan/plan.h"
#include "tasks/result/verdict.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::bench {

/// One choice of a family's parameters, timed in turns with the family's default.
struct RecordedChoice {
  tasks::ParameterChoice parameters;
  tasks::Verdict verdict = tasks::Verdict::NotJudged; ///< NotJudged: it ran and was timed
  std::string machine_code; ///< begin of its digest: equal for equal machine code
  /// By shape, the default's time / this choice's time at each turn. Empty: not timed.
  std::vector<std::vector<double>> ratios;
  /// Device time for this choice's share of a heat, by Landscape::kTurns.
  std::array<double, 2> seconds{};
};

/// The speeds of all choices of a family on one device.
struct Landscape {
  static constexpr std::array<int, 2> kTurns{3, 12}; ///< short and long heats
  static constexpr std::size_t kHeatSize = 8;        ///< choices, beside the default

  std::string task, file, device;
  std::vector<std::string> shapes;
  std::size_t allowed = 0; ///< choices that `where` allows; more than `choices` has: a sample
  std::vector<RecordedChoice> choices; ///< the default first
};

void to_json(nlohmann::json& json, const Landscape& landscape);
void from_json(const nlohmann::json& json, Landscape& landscape);

/// One landscape a line. Throws Error.
std::vector<Landscape> read_landscapes(const std::filesystem::path& path);

} // namespace winnow::bench
