#include "base/error.h"
#include "base/parallel.h"
#include "evaluators/selftest/trials.h"
#include "evaluators/worker/poison.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

constexpr const char* kRightByLuck = "the mutant gives the right answer";
constexpr std::size_t kFirstMutant = 2; // index in a run, after the correct and the stale case
constexpr int kMostDraws = 5;           // for mutants that depend on the draw
constexpr int kMostTinyDraws = 20;      // a tiny shape has few elements to change
constexpr int kMostLuckyDraws = 20;     // for mutants whose outputs have been the right ones

bool by_size(const tasks::Task& task, const tasks::Shape& left, const tasks::Shape& right) {
  return input_elements(task, left) < input_elements(task, right);
}

std::map<std::string, std::uint64_t> poison_of(const tasks::HostTensors& outputs,
                                               std::uint64_t seed) {
  std::map<std::string, std::uint64_t> poison;
  for (const auto& [name, output] : outputs) {
    poison[name] = poison_pattern(output.dtype, poison_salt(seed));
  }
  return poison;
}

/// Runs the mutants of a task on one set of shapes until each is rejected or no shapes
/// and seeds are left. Leaves out the mutants that every shape must reject (EveryShapeTrial).
class MutantTrial {
public:
  MutantTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options,
              tasks::ShapeSet set)
      : on_device_(on_device), runner_(runner), options_(options), set_(set),
        known_(on_device.task.shapes_of(tasks::ShapeSet::Search, on_device.host->device.kind)
                   .front()) {
    for (const tasks::Mutant& mutant : tasks::mutants_of(on_device.task)) {
      if (!mutant.every_shape) {
        MutantResult result;
        result.mutant = mutant;
        result.set = set;
        results_.push_back(std::move(result));
      }
    }
    was_wrong_.resize(results_.size());
  }
  /// Throws Error when reference.cu or the judge fails.
  std::vector<MutantResult> run() {
    const tasks::Task& task = on_device_.task;
    std::vector<tasks::Shape> shapes = task.shapes_of(set_, on_device_.host->device.kind);
    std::erase_if(shapes, [&](const tasks::Shape& shape) {
      return input_elements(task, shape) > options_.max_input_elements;
    });
    std::sort(shapes.begin(), shapes.end(),
              [&](const tasks::Shape& left, const tasks::Shape& right) {
                return by_size(task, left, right);
              });
    if (shapes.empty()) {
      for (MutantResult& result : results_) {
        result.why = fmt::format("inputs of more than {} elements", options_.max_input_elements);
      }
    }
    const bool is_tiny = set_ == tasks::ShapeSet::Tiny;
    const int seeds = is_tiny ? options_.evaluation.tiny_seeds : 1;
    const int draws = is_tiny ? kMostTinyDraws : kMostDraws;
    for (int i = 0; i < std::max({seeds, draws, kMostLuckyDraws}); ++i) {
      const Tried tried = i < seeds   ? Tried::All
                          : i < draws ? Tried::DependOnDraw
                                      : Tried::OnlyLucky;
      for (const tasks::Shape& shape : shapes) {
        run_case(shape, nth_seed(options_.seed, i), tried);
      }
    }
    return std::move(results_);
  }

private:
  struct Prepared {
    std::size_t mutant = 0; ///< index in results_
    ReferenceCase reference_case;
  };

  /// Draws that an evaluation makes try all mutants. Further draws try those that depend on the
  /// draw, and those that run the reference and were accepted: all shapes of a set have the same
  /// draw of the distribution, but each launch of a candidate has its own. All further draws try
  /// those that were right by luck: the last element of a ReLU is often the 0 that "edge off by
  /// one" leaves there.
  enum class Tried : std::uint8_t { All, DependOnDraw, OnlyLucky };

  void run_case(const tasks::Shape& shape, std::uint64_t seed, Tried tried) {
    const bool changes_outputs = is_any_tried(tried, false);
    if (!changes_outputs && !is_any_tried(tried, true)) {
      return;
    }
    const tasks::HostTensors inputs = tasks::draw_inputs(on_device_.task, shape, seed);
    std::vector<Prepared> prepared = prepare(shape, seed, inputs, tried);
    if (!changes_outputs && prepared.empty()) {
      return;
    }
    const std::vector<tasks::HostTensors> outputs = compute(shape, seed, inputs, prepared);
    judge_changed_outputs(shape, seed, inputs, outputs, tried);
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      if (!is_right_by_luck(prepared[i].mutant, outputs[kFirstMutant + i], outputs[0])) {
        judge(prepared[i].mutant, shape, seed, outputs[kFirstMutant + i]);
      }
    }
  }
  /// The mutants that are not rejected yet and run the reference, with their changed inputs.
  std::vector<Prepared> prepare(const tasks::Shape& shape, std::uint64_t seed,
                                const tasks::HostTensors& inputs, Tried tried) {
    std::vector<Prepared> prepared;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      MutantResult& result = results_[i];
      if (!result.mutant.runs_reference || !is_tried(i, tried)) {
        continue;
      }
      ReferenceCase changed{shape, inputs};
      std::string why = tasks::change_inputs(result.mutant, on_device_.task, known_, changed.shape,
                                             changed.inputs, seed);
      if (why.empty()) {
        prepared.push_back({i, std::move(changed)});
      } else if (result.state == MutantResult::State::NotApplicable) {
        result.why = std::move(why);
      }
    }
    return prepared;
  }
  /// Computes the correct outputs, the outputs for another seed, and the outputs of each prepared
  /// mutant. A mutant whose run faults is rejected and left out.
  std::vector<tasks::HostTensors> compute(const tasks::Shape& shape, std::uint64_t seed,
                                          const tasks::HostTensors& inputs,
                                          std::vector<Prepared>& prepared) {
    while (true) {
      std::vector<ReferenceCase> cases{
          {shape, inputs}, {shape, tasks::draw_inputs(on_device_.task, shape, seed + kStaleSeed)}};
      for (const Prepared& mutant : prepared) {
        cases.push_back(mutant.reference_case);
      }
      const ReferenceRun::Outcome outcome = runner_.answers(cases);
      const std::size_t completed = outcome.answers.size();
      if (!outcome.fault) {
        std::vector<tasks::HostTensors> outputs;
        for (const ReferenceAnswer& answer : outcome.answers) {
          outputs.push_back(rounded_outputs(on_device_.task, shape, answer));
        }
        return outputs;
      }
      if (completed < kFirstMutant || completed >= cases.size()) {
        throw Error(fmt::format("{}: reference.cu failed at {}: {}", on_device_.task.name, shape.id,
                                outcome.fault->detail),
                    "correct reference.cu of the task");
      }
      const auto faulty = prepared.begin() + static_cast<std::ptrdiff_t>(completed - kFirstMutant);
      MutantResult& result = results_[faulty->mutant];
      result.state = MutantResult::State::Rejected;
      result.shape_id = shape.id;
      result.verdict = outcome.fault->verdict;
      prepared.erase(faulty);
    }
  }
  void judge_changed_outputs(const tasks::Shape& shape, std::uint64_t seed,
                             const tasks::HostTensors& inputs,
                             const std::vector<tasks::HostTensors>& computed, Tried tried) {
    const tasks::HostTensors& right = computed[0];
    const tasks::MutantMaterial material{inputs, computed[1], poison_of(right, seed)};
    for (std::size_t i = 0; i < results_.size(); ++i) {
      MutantResult& result = results_[i];
      if (result.mutant.runs_reference || !is_tried(i, tried)) {
        continue;
      }
      tasks::HostTensors outputs = right;
      std::string why =
          tasks::change_outputs(result.mutant, on_device_.task, known_, material, outputs);
      if (why.empty()) {
        judge(i, shape, seed, outputs);
        const bool are_right = are_equal(outputs, right);
        was_wrong_[i] = was_wrong_[i] || !are_right;
        result.why = was_wrong_[i] ? "" : kRightByLuck;
      } else if (result.state == MutantResult::State::NotApplicable) {
        result.why = std::move(why);
      }
    }
  }
  void judge(std::size_t index, const tasks::Shape& shape, std::uint64_t seed,
             const tasks::HostTensors& outputs) {
    note(runner_.judge(shape, seed, poison_salt(seed), outputs, false), shape, results_[index]);
  }
  /// A mutant that depends on the draw may give the right answer, as a kernel may by luck.
  bool is_right_by_luck(std::size_t index, const tasks::HostTensors& outputs,
                        const tasks::HostTensors& right) {
    MutantResult& result = results_[index];
    const bool is_right = tasks::depends_on_draw(result.mutant.kind) && are_equal(outputs, right);
    if (is_right && result.state == MutantResult::State::NotApplicable) {
      result.why = kRightByLuck;
    }
    return is_right;
  }
  static bool are_equal(const tasks::HostTensors& outputs, const tasks::HostTensors& right) {
    return std::all_of(outputs.begin(), outputs.end(), [&](const auto& output) {
      return equal_in_parts(output.second.bytes, right.at(output.first).bytes);
    });
  }
  bool is_tried(std::size_t index, Tried tried) const {
    const MutantResult& result = results_[index];
    if (result.state == MutantResult::State::Rejected || tried == Tried::All) {
      return result.state != MutantResult::State::Rejected;
    }
    const bool is_accepted = result.state == MutantResult::State::Accepted;
    if (!result.mutant.runs_reference) {
      return is_accepted && !was_wrong_[index];
    }
    return tried == Tried::DependOnDraw &&
           (is_accepted || tasks::depends_on_draw(result.mutant.kind));
  }
  bool is_any_tried(Tried tried, bool runs_reference) const {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (results_[i].mutant.runs_reference == runs_reference && is_tried(i, tried)) {
        return true;
      }
    }
    return false;
  }

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  tasks::ShapeSet set_;
  tasks::Shape known_; ///< the first search shape
  std::vector<MutantResult> results_;
  std::vector<bool> was_wrong_; ///< of each result: changed outputs that were not the right ones
};

} // namespace

std::vector<MutantResult> try_on_set(TaskOnDevice& on_device, ReferenceRun& runner,
                                     const SelftestOptions& options, tasks::ShapeSet set) {
  return MutantTrial(on_device, runner, options, set).run();
}

std::string_view to_string(MutantResult::State state) {
  switch (state) {
  case MutantResult::State::Rejected:
    return "rejected";
  case MutantResult::State::Accepted:
    return "accepted";
  case MutantResult::State::NotApplicable:
    return "not_applicable";
  }
  return "unknown_state";
}

void note(const JudgeReply& reply, const tasks::Shape& shape, MutantResult& result) {
  const bool accepted = reply.verdict == tasks::Verdict::Correct;
  const bool nearest = result.state == MutantResult::State::NotApplicable ||
                       reply.ratios.larger() > result.max_error_ratio;
  if (!accepted || nearest) {
    result.shape_id = shape.id;
    result.verdict = reply.verdict;
    result.max_error_ratio = reply.ratios.larger();
  }
  result.state = accepted ? MutantResult::State::Accepted : MutantResult::State::Rejected;
  result.why.clear();
}

} // namespace winnow::evaluators
