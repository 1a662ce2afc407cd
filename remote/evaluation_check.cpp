#include "remote/evaluation_check.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using evaluators::Depth;
using evaluators::EvaluationRequest;
using tasks::CaseResult;
using tasks::Evaluation;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

struct NeededStage {
  Stage stage;
  ShapeSet set; ///< the shapes that it runs
};

/// Mirrors EvaluationRun::run_compiled().
std::vector<NeededStage> needed_stages(const EvaluationRequest& request) {
  switch (request.depth) {
  case Depth::Compile:
    return {};
  case Depth::Trial:
    return {{Stage::Time, ShapeSet::Search}};
  case Depth::HeldOut:
    return {{Stage::HeldOut, ShapeSet::HeldOut}};
  case Depth::Full:
  case Depth::Quick:
    break;
  }
  std::vector<NeededStage> stages{{Stage::Tiny, ShapeSet::Tiny}, {Stage::Search, ShapeSet::Search}};
  if (request.protocol.timing) {
    stages.push_back({Stage::Time, ShapeSet::Search});
  }
  if (request.depth == Depth::Full && request.protocol.promotion) {
    stages.push_back({Stage::Promotion, ShapeSet::Promotion});
  }
  return stages;
}

bool has_passed(const EvaluationRequest& request, const Evaluation& evaluation) {
  const bool judges = request.depth == Depth::Full || request.depth == Depth::HeldOut;
  return evaluation.verdict == (judges ? Verdict::Correct : Verdict::NotJudged);
}

std::string missing_case(const EvaluationRequest& request, const Evaluation& evaluation) {
  for (const NeededStage& needed : needed_stages(request)) {
    for (const tasks::Shape& shape : request.task->shapes_of(needed.set, evaluation.device)) {
      const bool is_there = std::any_of(
          evaluation.cases.begin(), evaluation.cases.end(), [&](const CaseResult& result) {
            return result.stage == needed.stage && result.shape_id == shape.id &&
                   (needed.stage != Stage::Time || !result.samples_ns.empty());
          });
      if (!is_there) {
        return fmt::format("no result of the stage '{}' at {}", to_string(needed.stage), shape.id);
      }
    }
  }
  return {};
}

std::string fault_of_verdict(const EvaluationRequest& request, const Evaluation& evaluation) {
  const bool passed = has_passed(request, evaluation);
  const auto says = [&](const std::string& what) {
    return fmt::format("the verdict '{}', {}", to_string(evaluation.verdict), what);
  };
  if (!passed) {
    const bool is_of_others =
        evaluation.verdict == Verdict::Correct || evaluation.verdict == Verdict::NotJudged;
    return is_of_others ? says("which this request cannot have") : "";
  }
  for (const CaseResult& result : evaluation.cases) {
    const bool may_lack_verdict = request.depth == Depth::Trial;
    if (result.verdict != Verdict::Correct &&
        !(may_lack_verdict && result.verdict == Verdict::NotJudged)) {
      return says(fmt::format("but '{}' at {}", to_string(result.verdict), result.shape_id));
    }
  }
  return missing_case(request, evaluation);
}

bool are_times(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value) && value >= 0; });
}

std::string fault_of_case(const EvaluationRequest& request, const CaseResult& result) {
  const std::vector<tasks::Shape>& shapes = request.task->shapes;
  const bool is_known = std::any_of(shapes.begin(), shapes.end(), [&](const tasks::Shape& shape) {
    return shape.id == result.shape_id && shape.set == result.set;
  });
  if (!is_known) {
    return fmt::format("a result at {}, which is no shape of the task", result.shape_id);
  }
  const bool are_all_times =
      are_times({result.median_ns, result.baseline_median_ns, result.speedup}) &&
      are_times(result.samples_ns) && are_times(result.baseline_samples_ns) &&
      are_times(result.incumbent_samples_ns) && are_times(result.warm_samples_ns);
  return are_all_times ? "" : "a time at " + result.shape_id + " that is no time";
}

} // namespace

std::string fault_of_form(const EvaluationRequest& request, const Evaluation& evaluation) {
  for (const CaseResult& result : evaluation.cases) {
    std::string fault = fault_of_case(request, result);
    if (!fault.empty()) {
      return fault;
    }
  }
  if (!are_times({evaluation.score_ns, evaluation.speedup, evaluation.hidden_speedup})) {
    return "a score or a speedup that is no number";
  }
  return fault_of_verdict(request, evaluation);
}

} // namespace winnow::remote
