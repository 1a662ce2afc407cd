#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/timing/incumbent_speed.h"
#include "tasks/plan/plan.h"
#include "tasks/result/evaluation.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// The incumbent: a correct kernel of the same task that a candidate races against.
struct KernelToBeat {
  std::string text;
  tasks::ParameterChoice parameters;
  /// Of its own evaluation. A race in which it has another speed does not count.
  EarnedSpeed earned = {};
};
/// Identifies the incumbent in the results of races (tasks::RaceResult::rival).
std::string digest_of(const KernelToBeat& kernel);

/// How thorough one evaluation is.
enum class Depth : std::uint8_t {
  Full,    ///< every stage that the protocol asks for
  Quick,   ///< one seed, no check mode, short timing, no hidden shapes; never `correct`
  Trial,   ///< times many choices of parameters in turns with the incumbent, and judges nothing
  HeldOut, ///< correctness on the held-out shapes only
  Compile, ///< compiles, and checks the launches at the search shapes; runs and judges nothing
};
std::string_view to_string(Depth depth); ///< "full", "quick", "trial", "held_out", "compile"

/// Everything that an evaluation depends on, except the machine. Can be sent to another process.
struct EvaluationRequest {
  std::string id; ///< request_id()
  std::shared_ptr<const tasks::Task> task;
  std::string text; ///< of the kernel file
  std::string file_name;
  /// Each is one of parameter_choices(). Trial: one or more. Otherwise one, or none for the
  /// default.
  std::vector<tasks::ParameterChoice> choices = {};
  Depth depth = Depth::Full;
  int turns = 1; ///< Trial: launches of each choice at each search shape
  Protocol protocol = {};
  std::optional<KernelToBeat> incumbent = std::nullopt;
};

struct EvaluationResult {
  std::string id;     ///< of the request
  std::string worker; ///< id and name of the device
  /// One for each choice. Empty if and only if there is a fault.
  std::vector<tasks::Evaluation> evaluations;
  std::string fault; ///< why nobody could judge the candidate: "cancelled", no device is left, ...
};

/// The digest of all that `request` asks, of the version of the evaluator, and of `repetition`,
/// which tells requests apart that ask for the same thing.
std::string request_id(const EvaluationRequest& request, std::int64_t repetition);

/// One JSON document each, schemas "winnow.evaluation-request" and "winnow.evaluation-result",
/// version 1. Nothing is lost, and the task travels as its texts. Decoding throws Error with the
/// path of the first value that is wrong.
std::string encode(const EvaluationRequest& request);
EvaluationRequest decode_evaluation_request(std::string_view text);
/// Many requests can share a task that travels alone: a request without a task is encoded with null
/// in its place, and is decoded with the task.
EvaluationRequest decode_request_of_task(std::string_view text,
                                         std::shared_ptr<const tasks::Task> task);
std::string encode(const tasks::Task& task);
std::shared_ptr<const tasks::Task> decode_task(std::string_view text);
std::string encode(const EvaluationResult& result);
EvaluationResult decode_evaluation_result(std::string_view text);

} // namespace winnow::evaluators
