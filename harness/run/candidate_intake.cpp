#include "harness/run/candidate_intake.h"

#include "agents/reply/reply.h"
#include "agents/reply/reply_diff.h"
#include "base/digest.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/config/model_arms.h"
#include "harness/run/prompts/seed_kernel.h"
#include "harness/run/prompts/source_facts.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace winnow::harness {

void CandidateIntake::add_first_kernels(TaskState& state) {
  state.has_first_kernels = true;
  const std::vector<std::string>& seeds = setup_.config.seed_kernels;
  if (state.task->baseline.empty() && seeds.empty()) {
    return;
  }
  commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
    std::vector<search::Event> events;
    if (!state.task->baseline.empty()) {
      state.baseline = add_first_kernel(state, "baseline", state.task->baseline);
      // The baseline is not tuned: tuned, it would be faster than the yardstick of other results.
      events.push_back(search::Added{state.baseline, "", 0, {}, facts_of(state.task->baseline)});
    }
    for (const std::string& seed : seeds) {
      const std::string text = seed_text(seed, setup_.journal.store(), state.task->name);
      events.push_back(search::Added{add_first_kernel(state, "person", text), "", 0,
                                     choices_of(text), facts_of(text)});
    }
    return events;
  });
}

store::RowId CandidateIntake::add_first_kernel(const TaskState& state, const std::string& origin,
                                               const std::string& text) {
  store::CandidateRow row;
  row.origin = origin;
  row.text = text;
  return add(state, std::move(row));
}

void CandidateIntake::accept_reply(TaskState& state, const search::Ask& ask,
                                   const agents::ModelReply& reply) {
  const agents::ExtractedKernel kernel =
      ask.op == "diff" ? agents::extract_changed_kernel(shelf_.at(ask.parents.front()).text,
                                                        reply.text, reply.finish_reason)
                       : agents::extract_kernel_file(reply.text, reply.finish_reason);
  const std::optional<tasks::Evaluation> bad =
      kernel.text ? std::nullopt : std::optional(bad_reply(kernel.problem));
  commit(setup_.journal, state, [&]() -> std::vector<search::Event> {
    const std::string& text = kernel.text ? *kernel.text : reply.text;
    const bool is_known =
        setup_.journal.store().has_file(setup_.journal.run(), state.row, sha256_hex(text));
    const store::RowId id = add_candidate(state, ask, text);
    if (!bad) { // a file that a model sends again is judged, but not tuned again
      return {search::Added{id, ask.key, reply.dollars.value_or(0),
                            is_known ? std::vector<tasks::ParameterChoice>{} : choices_of(text),
                            facts_of(text)}};
    }
    setup_.journal.store().add_evaluations(id, {*bad});
    return {search::Added{id, ask.key, reply.dollars.value_or(0), {}, {}},
            search::Evaluated{id, search::outcome_of(*bad, reply.text)}};
  });
  if (bad) {
    tally_.count(bad->verdict);
    tally_.tell(state, ask.key, *bad);
  }
}

tasks::Evaluation CandidateIntake::bad_reply(const std::string& problem) const {
  tasks::Evaluation evaluation =
      evaluators::blank_evaluation(setup_.device_kind, setup_.device_name);
  evaluation.verdict = tasks::Verdict::BadReply;
  evaluation.stage = tasks::Stage::Parse;
  evaluation.detail = problem;
  return evaluation;
}

/// The choices of the file's parameters that may be tried; none if it is not to be tuned.
std::vector<tasks::ParameterChoice> CandidateIntake::choices_of(const std::string& text) const {
  const auto most = static_cast<std::size_t>(setup_.config.max_variants);
  if (most <= 1) {
    return {};
  }
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, "candidate.cu");
  try {
    return parsed.kernel_file ? tasks::parameter_choices(parsed.kernel_file->plan, most)
                              : std::vector<tasks::ParameterChoice>{};
  } catch (const tasks::ExpressionError&) { // the evaluation reports it
    return {};
  }
}

/// Only a search with a forecaster needs them.
search::Facts CandidateIntake::facts_of(const std::string& text) const {
  const std::vector<std::string> roles = roles_of(setup_.config);
  return std::count(roles.begin(), roles.end(), "forecaster") > 0 ? source_facts(text)
                                                                  : search::Facts{};
}

store::RowId CandidateIntake::add_candidate(const TaskState& state, const search::Ask& ask,
                                            const std::string& text) {
  store::CandidateRow row;
  row.call_key = ask.key;
  if (!ask.parents.empty()) {
    row.parent_id = ask.parents.front();
    row.other_parents.assign(std::next(ask.parents.begin()), ask.parents.end());
  }
  row.origin = "model";
  row.text = text;
  return add(state, std::move(row));
}

store::RowId CandidateIntake::add(const TaskState& state, store::CandidateRow row) {
  row.task = state.task->name;
  row.digest = sha256_hex(row.text);
  return setup_.journal.store().add_candidate(setup_.journal.run(), state.row, row);
}

} // namespace winnow::harness
