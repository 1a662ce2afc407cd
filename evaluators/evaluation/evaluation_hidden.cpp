// The hidden stages of EvaluationRun. Their shapes never appear in a prompt, and their results are
// shown only as pass or fail.
#include "evaluators/evaluation/drawn_shapes.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/timing/hidden_speed.h"
#include "tasks/task/baseline.h"
#include "tasks/task/varied_shape.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

} // namespace

bool EvaluationRun::promotion() {
  if (!on_device_.options.promotion) {
    result_.notes.push_back("hidden shapes were not run");
    return true;
  }
  // A kernel that is not faster than the baseline cannot lead, so its times on hidden shapes do not
  // matter.
  const double at_least =
      result_.speedup_bounds.known() ? result_.speedup_bounds.low : result_.speedup;
  const bool timed = on_device_.options.timing && at_least > 1;
  return hidden(Stage::Promotion, ShapeSet::Promotion, timed);
}

bool EvaluationRun::held_out() {
  return hidden(Stage::HeldOut, ShapeSet::HeldOut, false); // a Sitting times the held-out shapes
}

bool EvaluationRun::hidden(Stage stage, ShapeSet set, bool timed) {
  result_.stage = stage;
  std::vector<tasks::Shape> shapes = on_device_.task.shapes_of(set, result_.device);
  if (set == ShapeSet::Promotion && on_device_.options.hidden_draw) {
    shapes = drawn_shapes(std::move(shapes), *on_device_.options.hidden_draw);
  }
  if (set == ShapeSet::Promotion && on_device_.options.hidden_sizes) {
    for (tasks::Shape& shape : shapes) {
      shape = tasks::varied_shape(on_device_.task, result_.device, std::move(shape),
                                  *on_device_.options.hidden_sizes);
    }
    on_device_.prepare_reference(shapes);
  }
  std::vector<Diagnostic> errors;
  BuiltKernel other;
  const bool served = serves(built_, on_device_.host->device.facts, shapes);
  if (!served) {
    other = on_device_.build(file_, on_device_.task, result_.parameters, shapes, BuildMode::Plain,
                             errors);
  }
  const BuiltKernel& built = served ? built_ : other;
  if (!errors.empty() || built.compiled.verdict != Verdict::Correct) {
    return fail(Verdict::WrongUnseen, "does not compile for a hidden shape");
  }
  std::vector<PlannedCase> cases;
  if (!plan_cases(shapes, 1, built, cases)) {
    return fail(Verdict::WrongUnseen, "the plan does not hold for a hidden shape: cover sizes that "
                                      "are not multiples of a tile, primes and small sizes");
  }
  const bool passed =
      run_and_judge(stage, cases, built) && (!timed || time_hidden(stage, cases, built));
  if (passed || result_.verdict == Verdict::Infrastructure) {
    return passed;
  }
  return fail(Verdict::WrongUnseen, fmt::format("{} on a hidden shape", describe(result_.verdict)));
}

bool EvaluationRun::time_hidden(Stage stage, const std::vector<PlannedCase>& cases,
                                const BuiltKernel& built) {
  std::vector<tasks::Shape> shapes;
  std::transform(cases.begin(), cases.end(), std::back_inserter(shapes),
                 [](const PlannedCase& planned) { return planned.shape; });
  auto rivals = on_device_.rivals_for(shapes, result_.race.has_value());
  const std::size_t first_case = result_.cases.size();
  if (!take_turns(stage, cases, built, rivals)) {
    return false;
  }
  score_hidden(result_, first_case, tasks::speedup_versus(on_device_.task));
  return true;
}

} // namespace winnow::evaluators
