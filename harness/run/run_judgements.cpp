#include "agents/reply.h"
#include "base/digest.h"
#include "base/text.h"
#include "harness/run/promotion.h"
#include "harness/run/run_loop.h"

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

void RunLoop::begin_baseline(TaskState& state) {
  const std::string& text = state.task->baseline;
  const store::CandidateState* known = known_candidate(state, "");
  if (known != nullptr && known->best) {
    attach_baseline(state, {known->row.id, text, *known->best});
    return;
  }
  store::CandidateRow row;
  row.task = state.task->name;
  row.origin = "baseline";
  row.text = text;
  row.digest = sha256_hex(text);
  const store::RowId id =
      known != nullptr ? known->row.id : setup_.journal.add_candidate(state.row, row);
  enqueue(state, std::nullopt, id, text);
}

void RunLoop::accept_reply(TaskState& state, const Proposal& proposal,
                           const agents::ModelReply& reply) {
  const std::string key = call_key(state.task->name, proposal);
  const agents::ExtractedKernel kernel =
      agents::extract_kernel_file(reply.text, reply.finish_reason);
  const store::CandidateState* known = known_candidate(state, key);
  const store::RowId id = known != nullptr
                              ? known->row.id
                              : add_candidate(state, proposal, kernel.text.value_or(reply.text));
  if (known != nullptr && known->best) {
    attach(state, proposal, {id, kernel.text.value_or(""), *known->best});
  } else if (kernel.text) {
    enqueue(state, proposal, id, *kernel.text);
  } else {
    const tasks::Evaluation evaluation = bad_reply(kernel.problem);
    setup_.journal.add_evaluations(id, {evaluation});
    attach(state, proposal, {id, "", evaluation});
    tell(state, proposal, evaluation);
  }
}

store::RowId RunLoop::add_candidate(TaskState& state, const Proposal& proposal,
                                    const std::string& text) {
  store::CandidateRow row;
  row.task = state.task->name;
  row.call_key = call_key(state.task->name, proposal);
  row.parent_id = proposal.parent
                      ? state.history.chains[proposal.chain].attempts[*proposal.parent].candidate
                      : state.history.baseline.candidate;
  row.origin = "model";
  row.text = text;
  row.digest = sha256_hex(text);
  return setup_.journal.add_candidate(state.row, row);
}

tasks::Evaluation RunLoop::bad_reply(const std::string& problem) const {
  tasks::Evaluation evaluation =
      evaluators::blank_evaluation(setup_.device_kind, setup_.device_name);
  evaluation.verdict = Verdict::BadReply;
  evaluation.stage = tasks::Stage::Parse;
  evaluation.detail = problem;
  return evaluation;
}

void RunLoop::enqueue(TaskState& state, const std::optional<Proposal>& proposal,
                      store::RowId candidate, const std::string& text) {
  begin_session();
  const std::string name = proposal ? call_key(state.task->name, *proposal) + ".cu" : "baseline.cu";
  judging_[candidate] = {&state, proposal, text};
  // The baseline is judged without tuning: tuned, it would be faster than the yardstick of other
  // results.
  const std::int64_t variants = proposal ? setup_.config.max_variants : 1;
  JudgeJob job{state.task, candidate, text, name, static_cast<std::size_t>(variants)};
  if (proposal) {
    if (const PastAttempt* leader = leader_of(state.history.open(proposal->chain))) {
      job.to_beat = kernel_of(*leader);
    }
  }
  judges_->add(std::move(job));
}

void RunLoop::handle(JudgeResult& result) {
  const auto it = judging_.find(result.candidate);
  if (it == judging_.end()) {
    return;
  }
  const Judgement judgement = std::move(it->second);
  judging_.erase(it);
  if (!result.error.empty()) {
    stop(Stop::Failure, "judging failed: " + result.error);
    return;
  }
  tasks::Evaluation& counts = result.evaluations.front();
  if (judgement.proposal) {
    gate(judgement.state->history.open(judgement.proposal->chain), counts);
  }
  record(result, judgement);
  PastAttempt attempt{result.candidate, judgement.text, counts};
  if (judgement.proposal) {
    attach(*judgement.state, *judgement.proposal, std::move(attempt));
    tell(*judgement.state, *judgement.proposal, counts);
  } else {
    attach_baseline(*judgement.state, std::move(attempt));
    if (judgement.state->searchable) {
      setup_.progress.event(attempt_line(judgement.state->task->name + " baseline", counts));
    }
  }
  if (faults_in_a_row_ >= kFaultsInARow) {
    stop(Stop::Failure, "the machine keeps failing: " + counts.detail);
  }
}

void RunLoop::gate(const Chain& chain, tasks::Evaluation& evaluation) {
  double best = 1;
  for (const PastAttempt& attempt : chain.attempts) {
    best = is_contender(attempt.evaluation) ? std::max(best, attempt.evaluation.speedup) : best;
  }
  if (evaluation.verdict != Verdict::Correct || evaluation.speedup <= best) {
    return;
  }
  evaluation.promoted = may_lead(evaluation, leader_of(chain));
  if (!evaluation.promoted) {
    evaluation.notes.insert(evaluation.notes.begin(),
                            "faster than the best on the shapes shown, but more than 10 % slower "
                            "than it on shapes of other sizes: not taken as the best");
  }
}

void RunLoop::record(const JudgeResult& result, const Judgement& judgement) {
  const tasks::Evaluation& counts = result.evaluations.front();
  const std::string key = judgement.proposal
                              ? call_key(judgement.state->task->name, *judgement.proposal)
                              : judgement.state->task->name;
  const bool fault = counts.verdict == Verdict::Infrastructure;
  if (!fault) { // a fault of the machine is not a verdict: a resumed run judges the candidate again
    setup_.journal.add_evaluations(result.candidate, result.evaluations);
  }
  setup_.journal.event(fault ? "machine fault" : "judged", {{"key", key},
                                                            {"verdict", to_string(counts.verdict)},
                                                            {"detail", counts.detail},
                                                            {kElapsedSeconds, seconds(elapsed())}});
  faults_in_a_row_ = fault ? faults_in_a_row_ + 1 : 0;
}

void RunLoop::attach(TaskState& state, const Proposal& proposal, PastAttempt attempt) {
  const tasks::Evaluation& evaluation = attempt.evaluation;
  ++verdicts_[std::string(to_string(evaluation.verdict))];
  if (is_contender(evaluation)) {
    state.best_speedup = std::max(state.best_speedup, evaluation.speedup);
  }
  state.active.erase(call_key(state.task->name, proposal));
  state.history.open(proposal.chain).attempts.push_back(std::move(attempt));
}

void RunLoop::attach_baseline(TaskState& state, PastAttempt attempt) {
  const tasks::Evaluation& evaluation = attempt.evaluation;
  state.searchable = evaluation.verdict == Verdict::Correct;
  if (!state.searchable) {
    const std::string line = attempt_line(state.task->name + " baseline", evaluation);
    trouble_ = line + "; the task is left out: mend its baseline.cu or reference.cu";
    setup_.journal.event("task left out", {{"task", state.task->name}, {"reason", line}});
    setup_.progress.event(trouble_, Progress::Weight::Important);
  }
  state.history.baseline = std::move(attempt);
}

void RunLoop::tell(const TaskState& state, const Proposal& proposal,
                   const tasks::Evaluation& evaluation) {
  std::string line = attempt_line(call_key(state.task->name, proposal), evaluation);
  const double best = state.best_speedup;
  if (best > 0) {
    line += fmt::format(" (best {:.2f}x)", best);
  }
  const bool is_best = is_contender(evaluation) && best > 1 && evaluation.speedup == best;
  setup_.progress.event(line, is_best ? Progress::Weight::Important : Progress::Weight::Routine);
}

} // namespace winnow::harness
