#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "tasks/plan/plan.h"
#include "tasks/result/sitting.h"
#include "tasks/task/task.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// A correct kernel that takes part in a sitting.
struct Finalist {
  std::string text; ///< of the kernel file
  std::string file_name;
  tasks::ParameterChoice parameters;
  std::string kernel; ///< tasks::kernel_digest() of text and parameters
};

/// Asks for one sitting per board, all on one device. Their rounds are interleaved, so that the
/// rounds of one board are further apart in time. Can be sent to another process.
struct SittingRequest {
  struct Board {
    std::shared_ptr<const tasks::Task> task;
    std::vector<Finalist> finalists; ///< at least one
    double baseline_spread = 0;      ///< tasks::SittingResult::baseline_spread
  };
  std::string id; ///< unique among the requests of an Evaluations
  std::vector<Board> boards;
  Protocol protocol = {}; ///< without a seed: repeated inputs could be remembered
};

struct SittingAnswer {
  struct Board {
    std::optional<tasks::SittingResult> result;
    std::string fault; ///< why there is no result
  };
  std::string id;            ///< of the request
  std::string worker;        ///< id and name of the device
  std::vector<Board> boards; ///< as in the request
};

/// The answer to `request` if nobody can hold its sittings.
SittingAnswer failed_sittings(const SittingRequest& request, const std::string& fault);

/// One JSON document each, schemas "winnow.sitting-request" and "winnow.sitting-answer", version 1;
/// otherwise as the messages of evaluation_request.h.
std::string encode(const SittingRequest& request);
SittingRequest decode_sitting_request(std::string_view text);
std::string encode(const SittingAnswer& answer);
SittingAnswer decode_sitting_answer(std::string_view text);

} // namespace winnow::evaluators
