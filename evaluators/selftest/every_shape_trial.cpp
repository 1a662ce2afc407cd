#include "base/parallel.h"
#include "evaluators/selftest/trials.h"

#include <algorithm>
#include <string>
#include <utility>

namespace winnow::evaluators {
namespace {

using State = MutantResult::State;

// Number of inputs per shape. The error of a single output is random and may be small by chance. An
// evaluation judges at least as many inputs of a search shape. A tiny shape may have only one
// product of two numbers, so it needs more inputs.
constexpr int kInputs = 5;
constexpr int kTinyInputs = 20;

/// Runs the mutants that every single shape must reject, whatever its size.
class EveryShapeTrial {
public:
  EveryShapeTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options,
                  tasks::ShapeSet set)
      : on_device_(on_device), runner_(runner), options_(options), set_(set) {}

  /// One result for each mutant. Throws Error when reference.cu or the judge fails.
  std::vector<MutantResult> run(const tasks::Shape& shape) {
    std::vector<MutantResult> results = untried(shape);
    runner_.settle(shape, options_.seed, set_ == tasks::ShapeSet::Tiny ? kTinyInputs : kInputs,
                   results,
                   [this](Drawn& drawn, MutantResult& result) { return settle(drawn, result); });
    return results;
  }

private:
  std::vector<MutantResult> untried(const tasks::Shape& shape) const {
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
  /// Tries one input. True when the result is final and no other input is needed. `drawn` is as
  /// before when the call returns.
  bool settle(Drawn& drawn, MutantResult& result) {
    const tasks::Shape shape = drawn.inputs.shape;
    save_inputs(drawn, result.mutant);
    const std::string why = tasks::change_inputs(result.mutant, on_device_.task, shape,
                                                 drawn.inputs.shape, drawn.inputs.inputs);
    bool is_final = false; // other inputs may be applicable
    if (why.empty()) {
      is_final = settle_changed(drawn, shape, result);
    } else if (result.state == State::NotApplicable) {
      result.why = why;
    }
    drawn.inputs.shape = shape;
    restore_inputs(drawn);
    return is_final;
  }
  bool settle_changed(const Drawn& drawn, const tasks::Shape& shape, MutantResult& result) {
    bool is_wrong = false;
    const auto fault = runner_.look(drawn.inputs, ReferenceRun::Parts::Outputs,
                                    [&](std::span<const ReferenceRun::Seen> outputs) {
                                      is_wrong = take_outputs(outputs, drawn, result.mutant);
                                    });
    if (fault) {
      result.state = State::Rejected;
      result.verdict = fault->verdict;
      return true;
    }
    if (!is_wrong) {
      result.why = "the mutant gives the right answer";
      return result.state == State::NotApplicable;
    }
    note(runner_.judge(shape, drawn.seed, poison_salt(drawn.seed), rounded_, false), shape, result);
    return result.state == State::Rejected;
  }
  void save_inputs(const Drawn& drawn, const tasks::Mutant& mutant) {
    saved_names_.clear();
    for (const auto& [name, input] : drawn.inputs.inputs) {
      if (mutant.name.empty() || mutant.name == name) { // empty: the mutant changes several tensors
        tasks::HostTensor& saved = saved_[name];
        saved.dtype = input.dtype;
        saved.extents = input.extents;
        saved.bytes.resize(input.bytes.size());
        copy_in_parts(input.bytes, saved.bytes);
        saved_names_.push_back(name);
      }
    }
  }
  void restore_inputs(Drawn& drawn) {
    for (const std::string& name : saved_names_) {
      std::swap(drawn.inputs.inputs.at(name), saved_.at(name));
    }
  }
  /// Rounds the mutant's outputs. False: they are the right ones.
  bool take_outputs(std::span<const ReferenceRun::Seen> outputs, const Drawn& drawn,
                    const tasks::Mutant& mutant) {
    bool are_right = true;
    for (const ReferenceRun::Seen& output : outputs) {
      const tasks::HostTensor& right = drawn.right.outputs.at(output.name);
      tasks::keep_right_places(mutant, drawn.inputs.inputs, right, output.bytes);
      are_right = are_right && equal_in_parts(output.bytes, right.bytes);
    }
    for (const ReferenceRun::Seen& output : outputs) {
      if (!are_right) {
        round_output(on_device_.task, drawn.inputs.shape, output, rounded_[output.name]);
      }
    }
    return !are_right;
  }

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  tasks::ShapeSet set_;
  // Memory that is used again for each mutant, because new pages take longer than their contents.
  tasks::HostTensors saved_; ///< the inputs before a mutant changed them
  std::vector<std::string> saved_names_;
  tasks::HostTensors rounded_; ///< the mutant's outputs
};

} // namespace

std::vector<MutantResult> try_on_shape(TaskOnDevice& on_device, ReferenceRun& runner,
                                       const SelftestOptions& options, tasks::ShapeSet set,
                                       const tasks::Shape& shape) {
  return EveryShapeTrial(on_device, runner, options, set).run(shape);
}

} // namespace winnow::evaluators
