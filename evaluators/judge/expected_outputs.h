#pragma once

#include "evaluators/judge/compare.h"
#include "evaluators/messages/arena.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/case_runner.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The reference's outputs at one shape for one set of inputs. They stay in device buffers as long
/// as this object lives. A device can have one such object at a time.
class ExpectedOutputs {
public:
  /// `plan`: the reference kernel's plan. Its module must be loaded.
  ExpectedOutputs(Device& device, tasks::ResolvedPlan plan, InputSeeds seeds)
      : plan_(std::move(plan)), runner_(device, plan_, seeds) {}

  /// Runs the reference; call it once, before compare(). A fault here is a fault of the task, not
  /// of a candidate. `verify` also checks that the reference wrote only its outputs, which takes as
  /// long as drawing the inputs.
  std::optional<DeviceFault> run(bool verify);
  /// Instead of run(), for a reference outside of the judge: copies the inputs into the exchange,
  /// and takes from there what `judged` has of the outputs, and no more.
  void give_inputs(const ArenaView& exchange, const std::vector<ArenaSlice>& inputs);
  void take_answers(const ArenaView& exchange, const std::vector<ArenaSlice>& answers,
                    const std::vector<JudgedTensor>& judged);
  /// Compares on the device if the device can. If the output is wrong and `explain` is set, the
  /// host compares again to explain the errors. `comparison` comes without the expected values;
  /// this call fills them in. `pieces`: the positions of the elements in `comparison.got`, one
  /// piece after the other; empty: all elements.
  ComparisonResult compare(const Comparison& comparison, bool explain = true,
                           std::vector<Piece> pieces = {});

private:
  ComparisonResult compare_on_host(Comparison comparison, const std::vector<Piece>& pieces,
                                   const std::string& magnitude);
  std::vector<std::byte> downloaded(const std::string& output, const std::vector<Piece>& pieces);
  bool has_output(const std::string& name) const;

  tasks::ResolvedPlan plan_;
  CaseRunner runner_;
};

} // namespace winnow::evaluators
