#pragma once

#include "evaluators/judge/compare.h"
#include "evaluators/worker/case_runner.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// What the reference computes at one shape from one set of inputs. The answer stays in the
/// device's buffers for as long as this object lives; one object of a device at a time.
class ExpectedOutputs {
public:
  /// `plan`: of the reference kernel, whose module is loaded.
  ExpectedOutputs(Device& device, tasks::ResolvedPlan plan, InputSeeds seeds)
      : plan_(std::move(plan)), runner_(device, plan_, seeds) {}

  /// Once, before compare(). A fault is the task's, not a candidate's. `verify`: looks whether the
  /// reference has written where it must not, which takes as long as drawing the inputs.
  std::optional<DeviceFault> run(bool verify);
  /// Compares on the device where it can; what is wrong is explained on the host. `comparison`
  /// lacks the answer. `pieces`: which elements of the output `comparison.got` has, one piece after
  /// the other; empty: all.
  ComparisonResult compare(const Comparison& comparison, std::vector<Piece> pieces = {});

private:
  ComparisonResult compare_on_host(Comparison comparison, const std::vector<Piece>& pieces,
                                   const std::string& magnitude);
  std::vector<std::byte> downloaded(const std::string& output, const std::vector<Piece>& pieces);
  bool has_output(const std::string& name) const;

  tasks::ResolvedPlan plan_;
  CaseRunner runner_;
};

} // namespace winnow::evaluators
