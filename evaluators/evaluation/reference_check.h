#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/evaluation/task_on_device.h"
#include "evaluators/judge/compare.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/case_runner.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The task's tolerance at this shape.
ErrorModel error_model(const tasks::Task& task, const tasks::Shape& shape);

/// How much of each output goes to the arena.
enum class OutputPart : std::uint8_t { Whole, DrawnPieces };

/// The arena ranges of the task's outputs at this shape, one after the other from `offset` on.
/// Advances `offset` to the end of the last range.
std::vector<ArenaSlice> output_slices(const tasks::Task& task, const tasks::Shape& shape,
                                      std::uint64_t& offset, OutputPart part = OutputPart::Whole);

/// The question to the judge about `outputs`, which lie in the arena. The reference of `on_device`
/// must be built for the shape. `salt`: salt of the poison that the outputs held before (poison.h).
/// With `draw`, the slices hold drawn_pieces() of each output.
JudgeRequest judge_request(const TaskOnDevice& on_device, const tasks::Shape& shape,
                           InputSeeds seeds, std::uint64_t salt, std::vector<ArenaSlice> outputs,
                           std::optional<std::uint64_t> draw = std::nullopt);

/// Turns `request` of judge_request() into the question about another launch at the same shape. Not
/// for a task with a TorchReference, whose inputs and answers are in the question.
void ask_about_launch(JudgeRequest& request, const TaskOnDevice& on_device,
                      const tasks::Shape& shape, InputSeeds seeds, std::uint64_t salt,
                      std::vector<ArenaSlice> outputs, std::optional<std::uint64_t> draw);

/// "c(row 3, col 7) = 1.5, expected 1.25 within 1e-06; 8 of 64 elements differ: ..."
std::string mismatch_text(const tasks::Mismatch& mismatch);

/// Compares the outputs of a framework or a library with those of reference.cu on the same inputs.
class ReferenceCheck {
public:
  /// Throws Error when the task's own files are broken.
  ReferenceCheck(const tasks::Task& task, std::shared_ptr<DeviceHost> host,
                 const EvaluationOptions& options);

  /// `outputs`: by tensor name, row-major elements in the format of tasks::store_element(). The
  /// inputs are those of tasks::generate_tensor() with `seed`. Throws Error when an output is
  /// missing or has the wrong size, or when reference.cu does not compile. `infrastructure` in the
  /// reply: the judge could not answer.
  JudgeReply compare(const tasks::Shape& shape, std::uint64_t seed,
                     const std::map<std::string, std::span<const std::byte>>& outputs);

private:
  std::unique_ptr<TaskOnDevice> on_device_;
};

} // namespace winnow::evaluators
