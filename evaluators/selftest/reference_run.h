#pragma once

#include "evaluators/evaluation/session.h"
#include "evaluators/selftest/selftest.h"
#include "evaluators/worker/runner.h"
#include "tasks/inputs/host_tensor.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Inputs that somebody else has chosen.
struct ReferenceCase {
  tasks::Shape shape;
  tasks::HostTensors inputs; ///< every input and inout of the task
};

/// Runs cases in a worker of the session's device, and asks its judge. The cases' data goes through
/// the arena.
class ReferenceRun {
public:
  /// Compiles reference.cu for every shape of the device. Throws Error.
  explicit ReferenceRun(Session& session);

  /// Cases of `built` as they are: from here on, the arena holds what they have left in it.
  /// `workers`: as RunRequest::workers.
  RunOutcome run(const BuiltKernel& built, std::vector<RunCase> cases, unsigned workers = 0);

  struct Outcome {
    std::vector<ReferenceAnswer> answers; ///< of the cases before a fault
    std::optional<DeviceFault> fault;
  };
  /// What reference.cu computes from each case's inputs.
  Outcome answers(const std::vector<ReferenceCase>& cases);

  /// Of inputs that are the task's own. Throws Error when reference.cu fails.
  ReferenceAnswer answer(const tasks::Shape& shape, const tasks::HostTensors& inputs);

  /// The session's judge on outputs that lie in this process, or in the arena already. Throws Error
  /// when it cannot answer.
  JudgeReply judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                   const tasks::HostTensors& outputs);
  JudgeReply judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                   const std::vector<ArenaSlice>& slices);

private:
  /// Where the case's buffers go; inputs are written there.
  RunCase place(const ReferenceCase& reference_case, const ArenaView& arena,
                std::uint64_t& offset) const;
  ReferenceAnswer take(const RunCase& run_case, const ArenaView& arena) const;

  Session& session_;
};

/// Rounded to the dtypes of the task's outputs.
tasks::HostTensors rounded_outputs(const tasks::Task& task, const tasks::Shape& shape,
                                   const ReferenceAnswer& answer);

/// All shapes that a task has for a kind of device.
std::vector<tasks::Shape> shapes_for(const tasks::Task& task, const std::string& device_kind);

/// Elements of all inputs together.
std::int64_t input_elements(const tasks::Task& task, const tasks::Shape& shape);

std::uint64_t poison_salt(std::uint64_t seed);

} // namespace winnow::evaluators
