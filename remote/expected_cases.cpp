#include "remote/expected_cases.h"

#include "base/digest.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using evaluators::Depth;
using tasks::CaseResult;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

/// A stage, the shapes that it runs, and how often.
struct StageOfCases {
  Stage stage;
  ShapeSet set;
  int seeds = 1;
  bool timed = false;
};

/// Mirrors EvaluationRun::run_compiled().
std::vector<StageOfCases> stages_of(const evaluators::EvaluationRequest& request,
                                    const tasks::Evaluation& evaluation) {
  const evaluators::Protocol& protocol = request.protocol;
  const bool full = request.depth == Depth::Full;
  if (request.depth == Depth::Trial) {
    return {{Stage::Time, ShapeSet::Search, 1, true}};
  }
  if (request.depth == Depth::HeldOut) {
    return {{Stage::HeldOut, ShapeSet::HeldOut}};
  }
  std::vector<StageOfCases> stages{{Stage::Tiny, ShapeSet::Tiny, full ? protocol.tiny_seeds : 1},
                                   {Stage::Search, ShapeSet::Search}};
  if (protocol.timing) {
    stages.push_back({Stage::Time, ShapeSet::Search, 1, true});
  }
  if (full && protocol.promotion) {
    stages.push_back({Stage::Promotion, ShapeSet::Promotion});
    const double at_least =
        evaluation.speedup_bounds.known() ? evaluation.speedup_bounds.low : evaluation.speedup;
    if (protocol.timing && at_least > 1) {
      stages.push_back({Stage::Promotion, ShapeSet::Promotion, 1, true});
    }
  }
  return stages;
}

std::string name_of(const CaseResult& result) {
  return fmt::format("{} at {}", to_string(result.stage), result.shape_id);
}

bool is_case(const CaseResult& result, const ExpectedCase& expected, bool knows_seed) {
  return result.stage == expected.stage && result.shape_id == expected.shape->id &&
         result.set == expected.shape->set && result.shape == to_string(*expected.shape) &&
         (!knows_seed || result.seed == expected.seed);
}

std::string difference_in_order(const std::vector<ExpectedCase>& expected,
                                const std::vector<CaseResult>& cases, bool knows_seeds) {
  for (std::size_t i = 0; i < std::min(expected.size(), cases.size()); ++i) {
    if (!is_case(cases[i], expected[i], knows_seeds)) {
      return fmt::format("the case '{}' in the place of '{} at {}', or with the seed of another "
                         "evaluation",
                         name_of(cases[i]), to_string(expected[i].stage), expected[i].shape->id);
    }
  }
  if (cases.size() != expected.size()) {
    return fmt::format("{} cases, but its request needs {}", cases.size(), expected.size());
  }
  return {};
}

/// A child that dies after its last case leaves that case twice.
std::string stray_case(const std::vector<ExpectedCase>& expected,
                       const std::vector<CaseResult>& cases, bool knows_seeds) {
  for (const CaseResult& result : cases) {
    const bool is_known =
        std::any_of(expected.begin(), expected.end(),
                    [&](const ExpectedCase& known) { return is_case(result, known, knows_seeds); });
    if (!is_known) {
      return fmt::format("the case '{}', which its request does not need, or with the seed of "
                         "another evaluation",
                         name_of(result));
    }
  }
  return cases.size() > expected.size() + 1 ? "more cases than its request needs" : "";
}

} // namespace

std::vector<ExpectedCase> expected_cases(const evaluators::EvaluationRequest& request,
                                         const tasks::Evaluation& evaluation) {
  const std::vector<tasks::Shape>& shapes = request.task->shapes;
  std::vector<ExpectedCase> cases;
  for (const StageOfCases& stage : stages_of(request, evaluation)) {
    for (const tasks::Shape& wanted : request.task->shapes_of(stage.set, evaluation.device)) {
      const auto shape =
          std::find_if(shapes.begin(), shapes.end(),
                       [&wanted](const tasks::Shape& known) { return known.id == wanted.id; });
      for (int seed = 0; seed < stage.seeds; ++seed) {
        const std::string what = fmt::format("{} {} {}", to_string(stage.stage), shape->id, seed);
        cases.push_back({stage.stage, &*shape, derived_seed(evaluation.seed, what), stage.timed});
      }
    }
  }
  return cases;
}

bool passed_every_stage(const evaluators::EvaluationRequest& request,
                        const tasks::Evaluation& evaluation) {
  const bool judges = request.depth == Depth::Full || request.depth == Depth::HeldOut;
  return evaluation.verdict == (judges ? Verdict::Correct : Verdict::NotJudged);
}

std::string difference_of_cases(const evaluators::EvaluationRequest& request,
                                const tasks::Evaluation& evaluation,
                                const std::vector<ExpectedCase>& expected) {
  const bool knows_seeds = request.depth != Depth::Trial;
  return passed_every_stage(request, evaluation)
             ? difference_in_order(expected, evaluation.cases, knows_seeds)
             : stray_case(expected, evaluation.cases, knows_seeds);
}

} // namespace winnow::remote
