#include "harness/run/prompts/prompt_writer.h"

#include "agents/prompts/missions.h"
#include "agents/reply/reply.h"
#include "agents/roles/role_reply.h"
#include "base/text/number_text.h"
#include "evaluators/evaluation/profile.h"
#include "harness/run/prompts/prompt_facts.h"
#include "harness/run/prompts/role_prompts.h"
#include "search/population.h"
#include "search/role.h"
#include "tasks/starter_file.h"

#include <fmt/format.h>

namespace winnow::harness {
namespace {

std::vector<profiling::ShapeProfile> profiles_of(const tasks::Evaluation& evaluation) {
  std::vector<profiling::ShapeProfile> profiles;
  for (evaluators::ProfiledShape& shape : evaluators::profile_of(evaluation)) {
    profiles.push_back(std::move(shape.shape));
  }
  return profiles;
}

std::string idea_text(const ShelvedCandidate& candidate) {
  return candidate.idea.empty() ? "" : ". Idea: " + candidate.idea;
}

} // namespace

agents::ModelRequest PromptWriter::request_for(const TaskState& state, const search::Ask& ask) {
  const agents::EndpointConfig& endpoint = setup_.model_of(ask).config;
  agents::ModelRequest request;
  request.key = ask.key;
  request.device = setup_.device_kind;
  request.model = endpoint.model;
  request.messages = setup_.prompts(context_for(state, ask));
  request.temperature = endpoint.temperature;
  request.max_output_tokens = endpoint.max_output_tokens;
  request.effort = endpoint.effort;
  if (endpoint.kind == "agent" && search::role_with_operator(ask.op) == nullptr) {
    request.task = state.task->name;
    request.kernel = first_kernel(state, ask);
  }
  if (endpoint.structured_output) {
    const bool is_of_a_role = search::role_with_operator(ask.op) != nullptr;
    request.schema =
        is_of_a_role ? agents::role_reply_schema(ask.op) : agents::kernel_reply_schema();
  }
  return request;
}

/// What a session of an agent begins with.
std::string PromptWriter::first_kernel(const TaskState& state, const search::Ask& ask) {
  if (!ask.parents.empty()) {
    return shelf_.at(ask.parents.front()).text;
  }
  return ask.best ? shelf_.at(ask.best->candidate).text : tasks::starter_file(*state.task);
}

agents::ProposalContext PromptWriter::context_for(const TaskState& state, const search::Ask& ask) {
  agents::ProposalContext context;
  context.task = state.task.get();
  context.facts = setup_.facts;
  context.device = setup_.device_kind;
  context.device_name = setup_.device_name;
  context.structured = setup_.model_of(ask).config.structured_output;
  context.variants = setup_.config.max_variants;
  if (state.baseline != 0) {
    context.baseline = attempt({state.baseline, 0}, false);
  }
  add_prompt_facts(context);
  context.op = ask.op;
  context.mission =
      ask.mission.empty() ? "" : agents::mission_words(ask.mission, ask.mission_repeats);
  if (ask.op != "improve" && ask.op != "seed" && ask.op != "meta") {
    const store::RowId parent = ask.parents.front();
    context.parent = attempt({parent, state.search->find(parent)->number}, true);
  }
  if (ask.second) {
    context.second = attempt(*ask.second, true);
  }
  context.older = ask.older;
  for (const search::Card& card : ask.history) {
    context.history.push_back(shelf_.earlier(card.candidate));
    context.history.back().number = card.number;
    context.history.back().idea = shelf_.at(card.candidate).idea;
  }
  for (const search::Card& card : ask.families) {
    context.families.push_back(family_line(state, card));
  }
  for (const search::Card& card : ask.failures) {
    context.do_not.push_back(failure_line(state, card));
  }
  if (ask.best) {
    context.best = attempt(*ask.best, true);
  }
  if (ask.previous) {
    context.previous = attempt(*ask.previous, true);
  }
  add_role_facts(context, setup_.journal, state, ask);
  if (ask.memory && !ask.parents.empty()) {
    context.lessons = lessons_.lines_for(state.task->name,
                                         outcome_of(*state.search->find(ask.parents.front())).cell);
  }
  if (ask.exemplar) {
    context.exemplar = tasks::exemplar_for(*state.task, setup_.device_kind);
  }
  if (context.parent || context.best) {
    const store::RowId shown = context.parent ? ask.parents.front() : ask.best->candidate;
    context.surface = surface_text(setup_.journal.store().trials(shown), shelf_.at(shown).text);
  }
  return context;
}

/// "attempt 3, 2.50x: 1 kernel, shared 16 KB. Idea: ..."
std::string PromptWriter::family_line(const TaskState& state, const search::Card& card) {
  const ShelvedCandidate& candidate = shelf_.at(card.candidate);
  return fmt::format("attempt {}, {}x: {}{}", card.number,
                     number_text(candidate.evaluation.speedup),
                     outcome_of(*state.search->find(card.candidate)).cell, idea_text(candidate));
}

/// "attempt 5, 0.61x the speed of attempt 3. Idea: ..."
std::string PromptWriter::failure_line(const TaskState& state, const search::Card& card) {
  const search::Individual& failed = *state.search->find(card.candidate);
  const search::Individual& parent = *state.search->find(failed.ask->parents.front());
  const double share = outcome_of(failed).speedup / outcome_of(parent).speedup;
  return fmt::format("attempt {}, {}x the speed of {}{}", card.number, number_text(share),
                     parent.ask ? fmt::format("attempt {}", parent.number) : "the first kernel",
                     idea_text(shelf_.at(card.candidate)));
}

agents::Attempt PromptWriter::attempt(const search::Card& card, bool with_limits) {
  const ShelvedCandidate& candidate = shelf_.at(card.candidate);
  agents::Attempt shown{card.number, candidate.text, candidate.evaluation, {}};
  if (with_limits) {
    shown.limits = limits_of(card.candidate);
  }
  return shown;
}

/// The limiters of a candidate, and their changes from the nearest ancestor that is correct.
std::string PromptWriter::limits_of(store::RowId candidate) {
  if (shelf_.at(candidate).evaluation.profile.empty()) {
    return "";
  }
  const ShelvedCandidate own = shelf_.at(candidate);
  const std::vector<profiling::ShapeProfile> profiles = profiles_of(own.evaluation);
  if (profiles.empty()) {
    return "";
  }
  tasks::Evaluation parent;
  for (store::RowId id = own.parent; id != 0 && parent.verdict != tasks::Verdict::Correct;) {
    const ShelvedCandidate& ancestor = shelf_.at(id);
    parent = ancestor.evaluation;
    id = ancestor.parent;
  }
  const std::string& code = own.evaluation.build.machine_code_digest;
  return profiling::limiter_feedback(profiles, profiles_of(parent),
                                     !code.empty() && code == parent.build.machine_code_digest) +
         launch_lines(own.evaluation);
}

} // namespace winnow::harness
