#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <vector>

namespace winnow::evaluators {

/// Puts down what the judge says of the mutant at a shape.
void note(const JudgeReply& reply, const tasks::Shape& shape, MutantResult& result);

/// The mutants of a session's task on one set of shapes, until each is rejected or the shapes and
/// seeds are used up; without those that every shape must reject (EveryShapeTrial).
class MutantTrial {
public:
  MutantTrial(Session& session, ReferenceRun& runner, const SelftestOptions& options,
              tasks::ShapeSet set);
  /// Throws Error when reference.cu or the judge fails.
  std::vector<MutantResult> run();

private:
  struct Prepared {
    std::size_t mutant = 0; ///< index in results_
    ReferenceCase reference_case;
  };

  void run_case(const tasks::Shape& shape, std::uint64_t seed);
  /// The live mutants that run the reference, on inputs changed already.
  std::vector<Prepared> prepare(const tasks::Shape& shape, const tasks::HostTensors& inputs);
  /// Right outputs, those of another seed, then those of each prepared mutant; one whose run faults
  /// is rejected and left out.
  std::vector<tasks::HostTensors> compute(const tasks::Shape& shape, std::uint64_t seed,
                                          const tasks::HostTensors& inputs,
                                          std::vector<Prepared>& prepared);
  void judge_changed_outputs(const tasks::Shape& shape, std::uint64_t seed,
                             const tasks::HostTensors& inputs, const tasks::HostTensors& right,
                             const tasks::HostTensors& stale);
  void judge(std::size_t index, const tasks::Shape& shape, std::uint64_t seed,
             const tasks::HostTensors& outputs);
  bool is_live(std::size_t index) const;

  Session& session_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  tasks::ShapeSet set_;
  tasks::Shape known_; ///< the first search shape
  std::vector<MutantResult> results_;
};

} // namespace winnow::evaluators
