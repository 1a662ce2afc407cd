#include "evaluators/selftest/every_shape_trial.h"

#include "evaluators/selftest/mutant_trial.h"

#include <algorithm>
#include <string>

namespace winnow::evaluators {
namespace {

using State = MutantResult::State;

// Number of inputs per shape. The error of a single output is random and may be small by chance. An
// evaluation judges at least as many inputs of a search shape. A tiny shape may have only one
// product of two numbers, so it needs more inputs.
constexpr int kInputs = 5;
constexpr int kTinyInputs = 20;

bool are_equal(const tasks::HostTensors& left, const tasks::HostTensors& right) {
  return std::all_of(left.begin(), left.end(), [&](const auto& output) {
    return output.second.bytes == right.at(output.first).bytes;
  });
}

} // namespace

std::vector<MutantResult> EveryShapeTrial::run(const tasks::Shape& shape) {
  std::vector<MutantResult> results = untried(shape);
  const int inputs = set_ == tasks::ShapeSet::Tiny ? kTinyInputs : kInputs;
  std::vector<MutantResult*> open;
  for (MutantResult& result : results) {
    open.push_back(&result);
  }
  for (int i = 0; i < inputs && !open.empty(); ++i) {
    Drawn drawn;
    drawn.seed = options_.seed + static_cast<std::uint64_t>(i);
    drawn.inputs = {shape, tasks::draw_inputs(on_device_.task, shape, drawn.seed)};
    drawn.right = runner_.answer(shape, drawn.inputs.inputs);
    std::erase_if(open, [&](MutantResult* result) { return settle(drawn, *result); });
  }
  return results;
}

std::vector<MutantResult> EveryShapeTrial::untried(const tasks::Shape& shape) const {
  std::vector<MutantResult> results;
  for (const tasks::Mutant& mutant : tasks::mutants_of(on_device_.task)) {
    if (mutant.every_shape) {
      MutantResult result;
      result.mutant = mutant;
      result.set = set_;
      result.shape_id = shape.id;
      results.push_back(std::move(result));
    }
  }
  return results;
}

bool EveryShapeTrial::settle(const Drawn& drawn, MutantResult& result) {
  const tasks::Shape& shape = drawn.inputs.shape;
  ReferenceCase changed = drawn.inputs;
  const std::string why =
      tasks::change_inputs(result.mutant, on_device_.task, shape, changed.shape, changed.inputs);
  if (!why.empty()) {
    if (result.state == State::NotApplicable) {
      result.why = why;
    }
    return false; // other inputs may be applicable
  }
  ReferenceRun::Outcome outcome = runner_.answers({changed});
  if (outcome.fault) {
    result.state = State::Rejected;
    result.verdict = outcome.fault->verdict;
    return true;
  }
  ReferenceAnswer& answer = outcome.answers.front();
  tasks::keep_right_places(result.mutant, changed.inputs, drawn.right.outputs, answer.outputs);
  if (are_equal(answer.outputs, drawn.right.outputs)) {
    result.why = "the mutant gives the right answer";
    return result.state == State::NotApplicable;
  }
  const tasks::HostTensors outputs = rounded_outputs(on_device_.task, shape, answer);
  note(runner_.judge(shape, drawn.seed, poison_salt(drawn.seed), outputs), shape, result);
  return result.state == State::Rejected;
}

} // namespace winnow::evaluators
