// The part of EvaluationRun that hands cases to a worker, has them judged and adds them to the
// result.
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/device/guard_core.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/shared_need.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::CaseResult;
using tasks::Stage;
using tasks::Verdict;

constexpr std::uint64_t kPoisonSalt = 0x706f69736f6eULL;

std::uint64_t buffer_bytes(const tasks::ResolvedPlan& plan) {
  std::uint64_t bytes = 0;
  for (const tasks::Buffer& buffer : plan.buffers) {
    bytes += static_cast<std::uint64_t>(buffer.count) * tasks::size_bytes(buffer.dtype);
  }
  return bytes;
}

std::string_view doing(Stage stage) {
  switch (stage) {
  case Stage::Tiny:
    return "runs the tiny shapes";
  case Stage::Check:
    return "runs in check mode";
  case Stage::Search:
    return "runs the search shapes";
  case Stage::Time:
    return "is timed";
  case Stage::Promotion:
    return "runs the hidden shapes";
  case Stage::HeldOut:
    return "runs the held-out shapes";
  case Stage::Parse:
  case Stage::Compile:
  case Stage::Done:
    break;
  }
  return "is profiled";
}

/// Memory that the rivals of a timing need beyond the buffers of one run: their scratch.
std::uint64_t more_memory(const std::vector<RunCase>& cases) {
  std::uint64_t most = 0;
  for (const RunCase& run_case : cases) {
    if (!run_case.sampling) {
      continue;
    }
    const auto places = static_cast<std::uint64_t>(run_case.sampling->places);
    std::uint64_t bytes = (places - 1) * buffer_bytes(*run_case.plan);
    for (const SharedPlan& rival : run_case.sampling->rivals) {
      bytes += places * buffer_bytes(*rival);
    }
    most = std::max(most, bytes);
  }
  return most;
}

/// Empty if the task has no inputs that the reference computes.
GiveInputs giver_of_inputs(TaskOnDevice& on_device, const std::vector<RunCase>& cases) {
  if (!has_computed_inputs(on_device.task)) {
    return {};
  }
  std::vector<std::tuple<std::string, std::uint64_t, std::vector<ArenaSlice>>> places;
  for (const RunCase& run_case : cases) {
    places.emplace_back(run_case.shape, run_case.seed, run_case.computed);
  }
  return [&on_device, places](const InputsNeeded& needed) -> std::string {
    if (needed.index >= places.size()) {
      return "the worker asks for inputs of a case that was not requested";
    }
    const auto& [shape, static_seed, to] = places[needed.index];
    return on_device.give_inputs(shape, needed.seed, static_seed, to);
  };
}

/// judged_case(), with the worker's own finding.
CaseResult judged_run(Stage stage, const PlannedCase& planned, const JudgeReply& reply,
                      const RunReport& report, std::size_t index) {
  CaseResult result = judged_case(stage, planned, reply);
  if (result.verdict == Verdict::Correct && index < report.cases.size()) {
    if (const std::string& differing = report.cases[index].differing; !differing.empty()) {
      result.verdict = Verdict::Unstable;
      result.detail =
          fmt::format("right within tolerance, but a second run on the same input gave other bits "
                      "in '{}': the kernel has a race, reads memory that was never written, or "
                      "uses floating-point atomics (their order changes)",
                      differing);
    }
  }
  return result;
}

} // namespace

std::vector<RunCase> run_cases_of(const TaskOnDevice& on_device,
                                  const std::vector<PlannedCase>& cases,
                                  std::vector<SamplingRequest> sampling) {
  std::vector<RunCase> run_cases;
  std::uint64_t offset = bytes_of_computed_inputs(on_device.task); // all cases use this place
  for (const PlannedCase& planned : cases) {
    RunCase run_case;
    run_case.computed = computed_inputs(on_device.task, planned.shape);
    run_case.shape = planned.shape.id;
    run_case.plan = planned.plan;
    run_case.seed = planned.seed;
    run_case.salt = mix_bits(planned.seed ^ kPoisonSalt);
    run_case.outputs =
        output_slices(on_device.task, planned.shape, offset,
                      sampling.empty() ? OutputPart::Whole : OutputPart::DrawnPieces);
    if (!sampling.empty()) {
      run_case.sampling = std::move(sampling.at(run_cases.size()));
      std::uint64_t& area = run_case.sampling->area_bytes;
      area = offset - run_case.outputs.front().offset;
      offset += static_cast<std::uint64_t>(run_case.sampling->areas - 1) * area;
    }
    tasks::require_shared(on_device.task, planned.shape, offset, on_device.host->arena.size_bytes(),
                          run_cases.empty() ? "its outputs"
                                            : "its outputs and those of the runs before it");
    run_cases.push_back(std::move(run_case));
  }
  return run_cases;
}

StageOutcome run_module(TaskOnDevice& on_device, const BuiltKernel& built,
                        std::vector<RunCase> cases, unsigned workers,
                        std::chrono::milliseconds wall,
                        const std::vector<const BuiltKernel*>& rivals, const OnReport& on_report) {
  DeviceHost& host = *on_device.host;
  RunRequest request;
  request.module = built.compiled.module;
  for (const BuiltKernel* rival : rivals) {
    request.rivals.push_back(rival->compiled.module);
  }
  request.workers = workers;
  request.cases = std::move(cases);
  RunnerLimits limits;
  limits.wall = wall;
  limits.give_inputs = giver_of_inputs(on_device, request.cases);
  // A GPU's worker has no such limit, and keeps the arena's pages pinned.
  if (!host.worker_device.is_gpu()) {
    limits.memory_bytes = on_device.options.memory_bytes + host.arena.size_bytes() +
                          cpu_stack_bytes() + more_memory(request.cases);
    host.arena.clear();
  }
  const SpentTime spent(host.spent.run_seconds);
  const double judged = host.spent.judge_seconds;
  StageOutcome outcome = host.runner->run(
      std::move(request), limits, [&] { return on_device.cancelled.load(); }, on_report);
  host.spent.run_seconds -= host.spent.judge_seconds - judged; // by `on_report`: counts once
  return outcome;
}

StageOutcome EvaluationRun::run_cases(const BuiltKernel& built, std::vector<RunCase> cases,
                                      unsigned workers, std::chrono::milliseconds wall,
                                      const std::vector<const BuiltKernel*>& rivals,
                                      const OnReport& on_report) const {
  on_device_.tell(file_.file, std::string(doing(result_.stage)), wall);
  return run_module(on_device_, built, std::move(cases), workers, wall, rivals, on_report);
}

CaseResult blank_case(Stage stage, const PlannedCase& planned) {
  CaseResult result;
  result.stage = stage;
  result.shape_id = planned.shape.id;
  result.set = planned.shape.set;
  result.shape = to_string(planned.shape);
  result.seed = planned.seed;
  return result;
}

CaseResult judged_case(Stage stage, const PlannedCase& planned, const JudgeReply& reply) {
  CaseResult result = blank_case(stage, planned);
  result.verdict = reply.verdict;
  result.mismatch = reply.mismatch;
  result.max_error_ratio = reply.ratios.larger();
  result.rms_error_ratio = reply.ratios.norm;
  result.detail = reply.mismatch ? mismatch_text(*reply.mismatch) : reply.detail;
  return result;
}

// Asks for one repetition per shape if the task promises the same bits for the same input.
void EvaluationRun::ask_for_repetitions(Stage stage, const std::vector<PlannedCase>& cases,
                                        std::vector<RunCase>& run_list) const {
  const bool repeats = stage == Stage::Tiny || stage == Stage::Search;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    run_list[i].repeat = repeats && cases[i].is_first && on_device_.task.tolerance.reproducible;
  }
}

bool EvaluationRun::run_and_judge(Stage stage, const std::vector<PlannedCase>& cases,
                                  const BuiltKernel& built) {
  std::vector<tasks::Shape> shapes;
  shapes.reserve(cases.size());
  for (const PlannedCase& planned : cases) {
    shapes.push_back(planned.shape);
  }
  on_device_.prepare_reference(shapes);
  std::vector<RunCase> run_list = run_cases_of(on_device_, cases);
  ask_for_repetitions(stage, cases, run_list);
  ReferenceJudge::Round round = on_device_.new_round();
  std::size_t given = 0;
  const auto give_up_to = [&](std::size_t end) {
    std::vector<JudgeRequest> requests;
    for (; given < std::min(end, cases.size()); ++given) {
      requests.push_back(judge_request(on_device_, cases[given].shape, cases[given].seed,
                                       run_list[given].salt, run_list[given].outputs));
    }
    if (!requests.empty()) {
      on_device_.give(round, requests);
    }
  };
  const StageOutcome outcome = run_cases(
      built, run_list, 0, on_device_.options.run_timeout, {}, [&](const RunReport& report) {
        give_up_to(report.cases.size() - (report.cases.back().fault ? 1 : 0));
      });
  const std::size_t completed =
      outcome.fault ? std::min(outcome.faulty_case, cases.size()) : cases.size();
  if (!outcome.cancelled) {
    give_up_to(completed);
  }
  const std::vector<JudgeReply> replies = on_device_.take(round);
  if (outcome.cancelled) {
    return fail(Verdict::Infrastructure, "cancelled");
  }
  bool passed = true;
  for (std::size_t i = 0; i < replies.size() && result_.verdict != Verdict::Infrastructure; ++i) {
    passed = add_case(judged_run(stage, cases[i], replies[i], outcome.report, i)) && passed;
  }
  if (outcome.fault) {
    CaseResult faulty = blank_case(stage, cases[std::min(completed, cases.size() - 1)]);
    faulty.verdict = outcome.fault->verdict;
    faulty.detail = outcome.fault->detail;
    passed = add_case(std::move(faulty)) && passed;
  }
  if (!outcome.printed.empty() && !tasks::is_hidden(cases.front().shape.set) &&
      result_.notes.size() < kMaxNotes) {
    result_.notes.push_back("the kernel printed: " + outcome.printed);
  }
  return passed;
}

bool EvaluationRun::add_case(CaseResult result) {
  const bool passed = result.verdict == Verdict::Correct;
  if (!passed && result_.verdict == Verdict::NotJudged) { // the first failure decides the verdict
    fail(result.verdict, tasks::is_hidden(result.set) ? std::string(describe(result.verdict))
                                                      : fmt::format("{} ({}): {}", result.shape_id,
                                                                    result.shape, result.detail));
  }
  result_.cases.push_back(std::move(result));
  return passed;
}

} // namespace winnow::evaluators
