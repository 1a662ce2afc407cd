#pragma once

#include "evaluators/device/device_report.h"
#include "evaluators/evaluation/ordered_results.h"
#include "tasks/result/evaluation.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// All GPUs of one model, for --device: "cuda:0,cuda:1". The model is that of the first GPU that
/// works. Empty: no GPU works.
std::string gpus_of_one_model(const std::vector<evaluators::DeviceReport>& devices);

/// Judges the same kernel on each of so many GPUs of a pool, `repeats` times or more on each. All
/// GPUs judge at once, as they do in a search. A GPU may take more than its share, so a round may
/// be repeated, but at most three times as many evaluations are made. nullopt: interrupted. Throws
/// Error if an evaluation is not correct, or has no UUID of a GPU.
std::optional<std::vector<tasks::Evaluation>>
judge_on_each_gpu(evaluators::OneByOne& evaluations, const evaluators::EvaluationRequest& request,
                  std::size_t gpus, int repeats);

/// Compares the times of the task's baseline in evaluations of judge_on_each_gpu(). Schema
/// "winnow.gpu_comparison", version 1. Throws Error if all are from one GPU.
nlohmann::json gpu_comparison_json(const tasks::Task& task,
                                   const std::vector<tasks::Evaluation>& evaluations);
/// The document as a table for users, and the spread as a sentence.
std::string gpu_comparison_text(const nlohmann::json& document);

} // namespace winnow::harness
