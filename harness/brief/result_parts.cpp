#include "harness/brief/result_parts.h"

#include "base/text.h"

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Evaluation;
using tasks::Stage;
using tasks::Verdict;

constexpr double kStages = 7; // parse, compile, tiny, check, search, time, promotion

/// Of the cases of the stage that began last.
double share_passed(const Evaluation& evaluation) {
  double passed = 0, all = 0;
  for (const tasks::CaseResult& one : evaluation.cases) {
    if (one.stage == evaluation.stage) {
      all += 1;
      passed += one.verdict == Verdict::Correct ? 1 : 0;
    }
  }
  return all > 0 ? passed / all : 0;
}

} // namespace

bool is_compiled(const Evaluation& evaluation, bool only_compiled) {
  return evaluation.stage > Stage::Compile ||
         (only_compiled && evaluation.verdict == Verdict::NotJudged);
}

double progress_of(const Evaluation& evaluation, bool only_compiled) {
  if (evaluation.verdict == Verdict::Correct) {
    return 1;
  }
  if (only_compiled && is_compiled(evaluation, only_compiled)) {
    return 2 / kStages;
  }
  const int passed = static_cast<int>(evaluation.stage) - static_cast<int>(Stage::Parse);
  const bool is_shown = evaluation.stage == Stage::Tiny || evaluation.stage == Stage::Search;
  return (passed + (is_shown ? share_passed(evaluation) : 0)) / kStages;
}

std::string shown_detail(const Evaluation& evaluation) {
  const bool is_hidden =
      evaluation.verdict == Verdict::WrongUnseen || evaluation.stage == Stage::Promotion;
  return is_hidden ? "" : to_valid_utf8(evaluation.detail);
}

json known(double value) {
  return value > 0 ? json(value) : json();
}

json speedup_json(const Evaluation& evaluation, const std::string& versus) {
  if (!(evaluation.speedup > 0)) {
    return nullptr;
  }
  return {{"value", evaluation.speedup},
          {"low", known(evaluation.speedup_bounds.low)},
          {"high", known(evaluation.speedup_bounds.high)},
          {"versus", versus}};
}

json shapes_json(const Evaluation& evaluation) {
  json shapes = json::array();
  for (const tasks::CaseResult& one : evaluation.cases) {
    if (one.set == tasks::ShapeSet::Search && one.median_ns > 0) {
      shapes.push_back(
          {{"shape", one.shape}, {"time_ns", one.median_ns}, {"speedup", known(one.speedup)}});
    }
  }
  return shapes;
}

json findings_json(const Evaluation& evaluation) {
  json list = json::array();
  for (const tasks::Finding& finding : evaluation.build.findings) {
    list.push_back({{"kind", to_string(finding.kind)}, {"detail", to_valid_utf8(finding.detail)}});
  }
  return list;
}

} // namespace winnow::harness
