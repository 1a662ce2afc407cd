#pragma once

#include "evaluators/evaluation/task_on_device.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/runner.h"
#include "tasks/result/evaluation.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace winnow::evaluators {

/// A kernel's plan for one shape and seed.
struct PlannedCase {
  tasks::Shape shape;
  std::uint64_t seed = 0;
  SharedPlan plan;
  bool is_first = true; ///< the first seed of its shape
};

/// Turns planned cases into cases for a worker and assigns each output its own range of the arena,
/// one after the other. `sampling`: one per case, in order; empty: no timing. Throws UsageError
/// when the arena is too small.
std::vector<RunCase> run_cases_of(const TaskOnDevice& on_device,
                                  const std::vector<PlannedCase>& cases,
                                  std::vector<SamplingRequest> sampling = {});
/// Runs the cases in a worker that loads `built` as module 0 and `rivals` as modules 1, 2, ...
/// `on_report`: see Runner::run().
StageOutcome run_module(TaskOnDevice& on_device, const BuiltKernel& built,
                        std::vector<RunCase> cases, unsigned workers,
                        std::chrono::milliseconds wall,
                        const std::vector<const BuiltKernel*>& rivals = {},
                        const OnReport& on_report = {});

tasks::CaseResult blank_case(tasks::Stage stage, const PlannedCase& planned);
tasks::CaseResult judged_case(tasks::Stage stage, const PlannedCase& planned,
                              const JudgeReply& reply);
/// Judges timed launches whose outputs are in the arena: for each report a result of each of its
/// outputs. Every report is about one of the cases. `infrastructure`: the worker reported an output
/// that was not requested, or the judge did not answer.
std::vector<std::vector<tasks::CaseResult>>
judge_timed_outputs(TaskOnDevice& on_device, const std::vector<RunCase>& run_cases,
                    const std::vector<PlannedCase>& cases,
                    const std::vector<RunCaseReport>& reports);

/// Number of places (copies of the tensors) that a timing at this shape uses.
int places_of(const TaskOnDevice& on_device, const tasks::Shape& shape);
/// Number of launches that can be judged at each of `shapes` shapes.
int areas_of(const TaskOnDevice& on_device, const tasks::Shape& shape, std::size_t shapes);
/// The most samples of a series: fewer than `wanted` if each launch waits for PyTorch's inputs.
int most_samples(const tasks::Task& task, int wanted);
/// Time limit for the sampling, in addition to one run. A kernel that may still win gets several
/// budgets.
std::chrono::milliseconds longest_timing(const std::vector<RunCase>& cases);

} // namespace winnow::evaluators
