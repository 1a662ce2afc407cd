#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"

#include <vector>

namespace winnow::evaluators {

/// The mutants that every shape must reject by itself, however large it is.
class EveryShapeTrial {
public:
  EveryShapeTrial(Session& session, ReferenceRun& runner, const SelftestOptions& options,
                  tasks::ShapeSet set)
      : session_(session), runner_(runner), options_(options), set_(set) {}

  /// One result for each mutant. Throws Error when reference.cu or the judge fails.
  std::vector<MutantResult> run(const tasks::Shape& shape);

private:
  /// One draw, and what is right for it.
  struct Drawn {
    std::uint64_t seed = 0;
    ReferenceCase inputs;
    ReferenceAnswer right;
  };

  std::vector<MutantResult> untried(const tasks::Shape& shape) const;
  /// True when no other input needs to be tried.
  bool settle(const Drawn& drawn, MutantResult& result);

  Session& session_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  tasks::ShapeSet set_;
};

} // namespace winnow::evaluators
