#pragma once

#include "evaluators/evaluation/session.h"
#include "evaluators/worker/protocol.h"
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
  tasks::ResolvedPlan plan;
  bool is_first = true; ///< of the seeds of its shape
};

/// For a worker; where their outputs go in the arena is laid out one after the other. `sampling`:
/// one a case, in order; empty: nothing is timed. Throws Error when the arena has no room.
std::vector<RunCase> run_cases_of(const Session& session, const std::vector<PlannedCase>& cases,
                                  std::vector<SamplingRequest> sampling = {});
/// Hands them to a worker that has loaded `built`, and `rivals` as modules 1, 2, ...
RunOutcome run_module(Session& session, const BuiltKernel& built, std::vector<RunCase> cases,
                      unsigned workers, std::chrono::milliseconds wall,
                      const std::vector<const BuiltKernel*>& rivals = {});

tasks::CaseResult blank_case(tasks::Stage stage, const PlannedCase& planned);
tasks::CaseResult judge_case(Session& session, tasks::Stage stage, const PlannedCase& planned,
                             const JudgeRequest& request);
/// Of a timed launch whose outputs are in the arena. `infrastructure`: the worker reports what
/// nobody asked for, or the judge did not answer.
tasks::CaseResult judge_timed_output(Session& session, const RunCase& run_case,
                                     const PlannedCase& planned, const TimedOutput& output);

/// So many sets of the tensors a timing at this shape uses.
int places_of(const Session& session, const tasks::Shape& shape);
/// So many launches of each of `shapes` shapes can be judged.
int areas_of(const Session& session, const tasks::Shape& shape, std::size_t shapes);
/// What sampling may take beside one run: who may yet win gets several budgets.
std::chrono::milliseconds longest_timing(const std::vector<RunCase>& cases);

} // namespace winnow::evaluators
