#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <cstdint>
#include <vector>

namespace winnow::evaluators {

constexpr std::uint64_t kStaleSeed = 0x57a1e; ///< added to the seed whose output is stale

/// Records the judge's reply about the mutant at a shape.
void note(const JudgeReply& reply, const tasks::Shape& shape, MutantResult& result);

/// Runs the mutants of a task on one set of shapes until each is rejected or no shapes
/// and seeds are left. Leaves out the mutants that every shape must reject (EveryShapeTrial).
class MutantTrial {
public:
  MutantTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options,
              tasks::ShapeSet set);
  /// Throws Error when reference.cu or the judge fails.
  std::vector<MutantResult> run();

private:
  struct Prepared {
    std::size_t mutant = 0; ///< index in results_
    ReferenceCase reference_case;
  };

  /// Draws that an evaluation makes try all mutants. Further draws try those that depend on the
  /// draw, and those that were accepted: all shapes of a set have the same draw of the
  /// distribution, but each launch of a candidate has its own.
  enum class Tried : std::uint8_t { All, DependOnDraw };

  void run_case(const tasks::Shape& shape, std::uint64_t seed, Tried tried);
  /// The mutants that are not rejected yet and run the reference, with their changed inputs.
  std::vector<Prepared> prepare(const tasks::Shape& shape, std::uint64_t seed,
                                const tasks::HostTensors& inputs, Tried tried);
  /// Computes the correct outputs, the outputs for another seed, and the outputs of each prepared
  /// mutant. A mutant whose run faults is rejected and left out.
  std::vector<tasks::HostTensors> compute(const tasks::Shape& shape, std::uint64_t seed,
                                          const tasks::HostTensors& inputs,
                                          std::vector<Prepared>& prepared);
  void judge_changed_outputs(const tasks::Shape& shape, std::uint64_t seed,
                             const tasks::HostTensors& inputs, const tasks::HostTensors& right,
                             const tasks::HostTensors& stale);
  void judge(std::size_t index, const tasks::Shape& shape, std::uint64_t seed,
             const tasks::HostTensors& outputs);
  /// A mutant that depends on the draw may give the right answer, as a kernel may by luck.
  bool is_right_by_luck(std::size_t index, const tasks::HostTensors& outputs,
                        const tasks::HostTensors& right);
  bool is_live(std::size_t index) const;

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  tasks::ShapeSet set_;
  tasks::Shape known_; ///< the first search shape
  std::vector<MutantResult> results_;
};

} // namespace winnow::evaluators
