#include "agents/reply.h"
#include "agents/reply_diff.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluators/evaluation/evaluator.h"
#include "harness/run/run_loop.h"
#include "tasks/plan/parameter_choices.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using tasks::Verdict;

// The evaluator has already repeated each evaluation that failed because of the machine.
constexpr int kFaultsInARow = 3;

std::string attempt_line(const std::string& key, const tasks::Evaluation& evaluation) {
  std::string line = fmt::format("{} {}", key, to_string(evaluation.verdict));
  if (evaluation.verdict == Verdict::Correct) {
    if (evaluation.score_ns > 0) {
      line += fmt::format(" {:.2f} us {:.2f}x", evaluation.score_ns / 1000, evaluation.speedup);
    }
    line += evaluation.promoted ? "" : ", not promoted: slow on hidden shapes";
  } else if (!evaluation.detail.empty()) {
    line += ": " + std::string(split_lines(evaluation.detail).front());
  }
  return line;
}

} // namespace

void RunLoop::commit(TaskState& state, const std::function<std::vector<search::Event>()>& work) {
  std::vector<search::Event> events;
  setup_.journal.transaction([&] {
    events = work();
    for (const search::Event& event : events) {
      setup_.journal.log(state.row, event);
    }
  });
  for (const search::Event& event : events) {
    state.search->apply(event);
  }
}

/// The task's baseline, and the kernel that the user starts from.
void RunLoop::add_first_kernels(TaskState& state) {
  store::CandidateRow row;
  row.task = state.task->name;
  row.origin = "baseline";
  row.text = state.task->baseline;
  row.digest = sha256_hex(row.text);
  commit(state, [&]() -> std::vector<search::Event> {
    state.baseline = setup_.journal.add_candidate(state.row, row);
    // The baseline is not tuned: tuned, it would be faster than the yardstick of other results.
    std::vector<search::Event> events{search::Added{state.baseline, "", 0, {}}};
    if (!setup_.config.seed_kernel.empty()) {
      row.origin = "person";
      row.text = read_file(setup_.config.seed_kernel, tasks::kMaxKernelFileBytes);
      row.digest = sha256_hex(row.text);
      events.push_back(
          search::Added{setup_.journal.add_candidate(state.row, row), "", 0, choices_of(row.text)});
    }
    return events;
  });
}

void RunLoop::accept_reply(TaskState& state, const search::Ask& ask,
                           const agents::ModelReply& reply) {
  const agents::ExtractedKernel kernel =
      ask.op == "diff" ? agents::extract_changed_kernel(shelf_.at(ask.parents.front()).text,
                                                        reply.text, reply.finish_reason)
                       : agents::extract_kernel_file(reply.text, reply.finish_reason);
  std::optional<tasks::Evaluation> bad;
  if (!kernel.text) {
    bad = blank(Verdict::BadReply, kernel.problem);
    bad->stage = tasks::Stage::Parse;
  }
  commit(state, [&]() -> std::vector<search::Event> {
    const store::RowId id = add_candidate(state, ask, kernel.text.value_or(reply.text));
    if (!bad) {
      return {search::Added{id, ask.key, reply.dollars.value_or(0), choices_of(*kernel.text)}};
    }
    setup_.journal.add_evaluations(id, {*bad});
    return {search::Added{id, ask.key, reply.dollars.value_or(0), {}},
            search::Evaluated{id, search::outcome_of(*bad, reply.text)}};
  });
  if (bad) {
    count(bad->verdict);
    tell(state, ask.key, *bad);
  }
}

/// The choices of the file's parameters that may be tried; none if it is not to be tuned.
std::vector<tasks::ParameterChoice> RunLoop::choices_of(const std::string& text) const {
  const auto most = static_cast<std::size_t>(setup_.config.max_variants);
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, "candidate.cu");
  try {
    return most > 1 && parsed.kernel_file ? tasks::parameter_choices(parsed.kernel_file->plan, most)
                                          : std::vector<tasks::ParameterChoice>{};
  } catch (const tasks::ExpressionError&) { // the evaluation reports it
    return {};
  }
}

store::RowId RunLoop::add_candidate(const TaskState& state, const search::Ask& ask,
                                    const std::string& text) {
  store::CandidateRow row;
  row.task = state.task->name;
  row.call_key = ask.key;
  row.parent_id = ask.parents.front();
  row.other_parents.assign(std::next(ask.parents.begin()), ask.parents.end());
  row.origin = "model";
  row.text = text;
  row.digest = sha256_hex(text);
  return setup_.journal.add_candidate(state.row, row);
}

tasks::Evaluation RunLoop::blank(Verdict verdict, std::string detail) const {
  tasks::Evaluation evaluation =
      evaluators::blank_evaluation(setup_.device_kind, setup_.device_name);
  evaluation.verdict = verdict;
  evaluation.detail = std::move(detail);
  return evaluation;
}

void RunLoop::decide_evaluations(TaskState& state) {
  const search::Capacity no_calls;
  while (const auto action = state.search->decide(no_calls)) {
    begin_session();
    commit(state, [&]() -> std::vector<search::Event> {
      return {search::Decided{*action, no_calls}};
    });
    submit(state, std::get<search::Evaluate>(*action));
  }
}

void RunLoop::submit(TaskState& state, const search::Evaluate& evaluate) {
  begin_session();
  const store::CandidateRow row = setup_.journal.store().candidate(evaluate.candidate);
  const bool is_baseline = evaluate.candidate == state.baseline;
  const bool is_given = row.call_key.empty() && !is_baseline;
  const std::string key = is_given ? state.task->name + "/seed" : row.call_key;
  evaluators::EvaluationRequest request;
  request.task = state.task;
  request.text = row.text;
  request.file_name = is_baseline ? "baseline.cu" : key + ".cu";
  request.choices = evaluate.choices;
  request.protocol = setup_.config.evaluation;
  if (evaluate.is_heat()) {
    request.depth = evaluators::Depth::Trial;
    request.turns = evaluate.turns;
  }
  // The choices of a heat take turns with the default choice of the same file.
  const auto rival = evaluate.is_heat() ? std::optional(evaluate.candidate) : evaluate.incumbent;
  if (rival) {
    const ShelvedCandidate& incumbent = shelf_.at(*rival);
    request.incumbent = evaluators::KernelToBeat{incumbent.text, incumbent.evaluation.parameters};
  }
  request.id = evaluators::request_id(request, evaluate.candidate);
  judging_[request.id] = {&state, evaluate, key, row.text};
  evaluations_->submit(std::move(request));
}

void RunLoop::handle(evaluators::EvaluationResult& result) {
  const auto it = judging_.find(result.id);
  if (it == judging_.end()) {
    return;
  }
  const Judgement judgement = std::move(it->second);
  judging_.erase(it);
  if (!result.fault.empty()) {
    result.evaluations = {blank(Verdict::Infrastructure, result.fault)};
  }
  tasks::Evaluation& first = result.evaluations.front();
  if (first.verdict == Verdict::Infrastructure) {
    record_fault(judgement, first);
    return;
  }
  faults_in_a_row_ = 0;
  if (judgement.what.is_heat()) {
    record_heat(judgement, result);
  } else {
    record(judgement, result.id, first);
  }
}

/// A fault of the machine is not a verdict: the search decides whether the candidate is judged
/// again.
void RunLoop::record_fault(const Judgement& judgement, const tasks::Evaluation& fault) {
  commit(*judgement.state, [&]() -> std::vector<search::Event> {
    setup_.journal.event("machine fault", account_of(judgement, fault));
    return {search::Faulted{judgement.candidate(), judgement.what.choices, judgement.what.turns}};
  });
  settle(judgement, fault);
  if (++faults_in_a_row_ >= kFaultsInARow) {
    stop(Stop::Failure, "the machine keeps failing: " + fault.detail);
  }
}

void RunLoop::record_heat(const Judgement& judgement, const evaluators::EvaluationResult& result) {
  commit(*judgement.state, [&]() -> std::vector<search::Event> {
    setup_.journal.add_trials(judgement.candidate(), result.evaluations, result.id,
                              judgement.what.turns);
    search::Tried tried{judgement.candidate(), {}, 0};
    for (const tasks::Evaluation& trial : result.evaluations) {
      tried.trials.push_back(search::trial_of(trial));
      tried.device_seconds += trial.seconds;
    }
    return {tried};
  });
  settle(judgement, {});
}

void RunLoop::record(const Judgement& judgement, const std::string& request,
                     tasks::Evaluation& evaluation) {
  TaskState& state = *judgement.state;
  search::Outcome outcome = search::outcome_of(evaluation, judgement.text);
  outcome.promoted = state.search->promotes(judgement.candidate(), outcome);
  if (evaluation.promoted && !outcome.promoted) {
    evaluation.notes.insert(
        evaluation.notes.begin(),
        "faster than the best kernel on the shown shapes, but more than 10 % slower on "
        "shapes of other sizes: this kernel does not become the best");
  }
  evaluation.promoted = outcome.promoted;
  const std::optional<search::Outcome>& of_default =
      state.search->find(judgement.candidate())->of_default;
  commit(state, [&]() -> std::vector<search::Event> {
    if (!of_default) {
      setup_.journal.add_evaluations(judgement.candidate(), {evaluation}, request);
    } else if (search::is_better(outcome, *of_default)) {
      setup_.journal.supersede_evaluation(judgement.candidate(), evaluation, request);
    } else {
      setup_.journal.add_trials(judgement.candidate(), {evaluation}, request, 0);
    }
    setup_.journal.event("judged", account_of(judgement, evaluation));
    return {search::Evaluated{judgement.candidate(), outcome}};
  });
  shelf_.forget(judgement.candidate());
  settle(judgement, {});
}

/// Counts and reports the candidate if its last evaluation has ended. `fault`: of the machine.
void RunLoop::settle(const Judgement& judgement, const tasks::Evaluation& fault) {
  TaskState& state = *judgement.state;
  const std::optional<search::Outcome>& outcome =
      state.search->find(judgement.candidate())->outcome;
  if (!outcome) {
    return;
  }
  shelf_.forget(judgement.candidate());
  count(state, judgement.key.empty(), *outcome);
  tell_judged(judgement, outcome->verdict == Verdict::Infrastructure
                             ? fault
                             : shelf_.at(judgement.candidate()).evaluation);
}

nlohmann::json RunLoop::account_of(const Judgement& judgement,
                                   const tasks::Evaluation& evaluation) const {
  return {{"key", judgement.key.empty() ? judgement.state->task->name : judgement.key},
          {"verdict", to_string(evaluation.verdict)},
          {"detail", evaluation.detail},
          {kElapsedSeconds, seconds(elapsed())}};
}

void RunLoop::count(Verdict verdict) {
  ++verdicts_[std::string(to_string(verdict))];
  last_result_ = elapsed();
}

void RunLoop::count(TaskState& state, bool is_baseline, const search::Outcome& outcome) {
  if (is_baseline) {
    return;
  }
  count(outcome.verdict);
  if (search::is_contender(outcome, evaluators::kEvaluatorVersion)) {
    state.best_speedup = std::max(state.best_speedup, outcome.speedup);
  }
}

void RunLoop::check_baseline(const TaskState& state, const tasks::Evaluation& evaluation) {
  if (evaluation.verdict != Verdict::Correct) {
    const std::string line = attempt_line(state.task->name + " baseline", evaluation);
    trouble_ = line + "; the run leaves the task out: mend the task's baseline.cu or reference.cu";
    setup_.journal.event("task left out", {{"task", state.task->name}, {"reason", line}});
    setup_.progress.event(trouble_, Progress::Weight::Important);
  }
}

void RunLoop::tell_judged(const Judgement& judgement, const tasks::Evaluation& evaluation) {
  const TaskState& state = *judgement.state;
  if (!judgement.key.empty()) {
    tell(state, judgement.key, evaluation);
    return;
  }
  check_baseline(state, evaluation);
  if (evaluation.verdict == Verdict::Correct) {
    setup_.progress.event(attempt_line(state.task->name + " baseline", evaluation));
  }
}

void RunLoop::tell(const TaskState& state, const std::string& key,
                   const tasks::Evaluation& evaluation) {
  std::string line = attempt_line(key, evaluation);
  const double best = state.best_speedup;
  if (best > 0) {
    line += fmt::format(" (best {:.2f}x)", best);
  }
  const bool is_best = evaluation.verdict == Verdict::Correct && evaluation.promoted && best > 1 &&
                       evaluation.speedup == best;
  setup_.progress.event(line, is_best ? Progress::Weight::Important : Progress::Weight::Routine);
}

} // namespace winnow::harness
