#include "search/counsel.h"

#include "base/digest.h"
#include "base/error.h"
#include "search/population.h"
#include "search/role.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

constexpr const char* kJudge = "judge";
constexpr const char* kVerifier = "verifier";
constexpr const char* kMetaPrompter = "meta-prompter";
constexpr const char* kMemory = "memory";
constexpr const char* kExemplar = "exemplar";
constexpr const char* kWith = "with";
constexpr const char* kWithout = "without";

/// Of the verifier's call.
Evaluate evaluation_of(const Ask& verify) {
  Evaluate evaluate;
  evaluate.candidate = verify.parents.at(0);
  if (verify.parents.size() > 1) {
    evaluate.incumbent = verify.parents[1];
  }
  return evaluate;
}

/// The call that waits for the judge.
Ask waiting_call(const Ask& judge) {
  Ask waiting = judge;
  waiting.key = std::exchange(waiting.waiting_key, {});
  waiting.op = std::exchange(waiting.waiting_op, {});
  waiting.model = std::exchange(waiting.waiting_model, {});
  waiting.advice = judge.key;
  return waiting;
}

bool rejects(const std::string& advice) {
  const auto parsed = nlohmann::json::parse(advice, nullptr, false);
  return parsed.is_object() && parsed.value("verdict", "") == "reject";
}

} // namespace

bool runs_anyway(const Settings& settings, CandidateId candidate) {
  constexpr std::uint64_t kParts = 1000;
  const std::uint64_t drawn =
      derived_seed(settings.seed, settings.task + "/" + std::to_string(candidate)) % kParts;
  return static_cast<double>(drawn) < kAuditShare * kParts;
}

double gain_over_parent(const Search& search, const Individual& settled, int evaluator_version) {
  if (!settled.ask || !is_contender(outcome_of(settled), evaluator_version)) {
    return 0;
  }
  const std::vector<CandidateId>& parents = settled.ask->parents;
  const Individual* parent = parents.empty() ? nullptr : search.find(parents.front());
  return std::max(value(settled) - (parent != nullptr ? value(*parent) : 0), 0.0);
}

Counsel::Counsel(std::unique_ptr<Search> inner, Settings settings)
    : inner_(std::move(inner)), settings_(std::move(settings)) {
  for (const std::string& role : settings_.roles) {
    standings_[role].role = role;
  }
}

std::optional<Action> Counsel::decide(const Capacity& capacity) const {
  if (!released_.empty()) {
    return released_.front();
  }
  std::optional<Action> action = inner_->decide(capacity);
  const bool may_call = capacity.asks > 0;
  if (const auto* evaluate = action ? std::get_if<Evaluate>(&*action) : nullptr) {
    if (!is_to_verify(*evaluate)) {
      return action;
    }
    return may_call ? std::optional<Action>(verify(*evaluate)) : std::nullopt;
  }
  if (may_call && !ready_.empty()) {
    return ready_.front();
  }
  if (!action) {
    return std::nullopt;
  }
  Ask ask = with_prompt_arms(std::get<Ask>(*std::move(action)));
  if (is_time_for_a_variant()) {
    return role_call(kMetaPrompter, std::move(ask));
  }
  return is_to_judge(ask) ? judge(std::move(ask)) : std::move(ask);
}

bool Counsel::has(const std::string& role) const {
  const auto found = standings_.find(role);
  return found != standings_.end() && found->second.off.empty();
}

/// The call builds on a kernel with a record that says where its time goes.
bool Counsel::is_to_judge(const Ask& ask) const {
  if (!has(kJudge) || ask.op == "seed" || ask.op == "repair" || ask.parents.empty()) {
    return false;
  }
  const Individual* parent = inner_->find(ask.parents.front());
  return parent != nullptr && outcome_of(*parent).verdict == tasks::Verdict::Correct;
}

bool Counsel::is_to_verify(const Evaluate& evaluate) const {
  if (!has(kVerifier) || evaluate.is_heat() || verified_.contains(evaluate.candidate)) {
    return false;
  }
  const Individual& candidate = *inner_->find(evaluate.candidate);
  return candidate.ask && !candidate.of_default;
}

bool Counsel::is_held_up() const {
  const std::optional<Action> next = released_.empty() ? inner_->decide({}) : std::nullopt;
  const auto* evaluate = next ? std::get_if<Evaluate>(&*next) : nullptr;
  return evaluate != nullptr && is_to_verify(*evaluate);
}

bool Counsel::is_time_for_a_variant() const {
  if (!has(kMetaPrompter) || standings_.at(kMetaPrompter).calls >= kMostVariants) {
    return false;
  }
  const bool is_asked = std::any_of(open_.begin(), open_.end(),
                                    [](const auto& call) { return call.second == kMetaPrompter; });
  return !is_asked && inner_->asks() >= calls_at_variant_ + kCallsPerVariant;
}

/// `about`: what the prompt of the role shows.
Ask Counsel::role_call(const std::string& role, Ask about) const {
  const std::string& op = role_named(role).op;
  about.op = op;
  about.key = settings_.task + "/" + op + "/" + std::to_string(standings_.at(role).calls);
  if (const auto model = settings_.role_models.find(role); model != settings_.role_models.end()) {
    about.model = model->second;
  }
  return about;
}

Ask Counsel::judge(Ask waiting) const {
  Ask call = role_call(kJudge, waiting);
  call.waiting_key = std::move(waiting.key);
  call.waiting_op = std::move(waiting.op);
  call.waiting_model = std::move(waiting.model);
  return call;
}

Ask Counsel::verify(const Evaluate& evaluate) const {
  Ask about;
  about.model = inner_->find(evaluate.candidate)->ask->model;
  about.parents = {evaluate.candidate};
  if (evaluate.incumbent) {
    about.parents.push_back(*evaluate.incumbent);
  }
  return role_call(kVerifier, std::move(about));
}

Ask Counsel::with_prompt_arms(Ask ask) const {
  if (has(kMetaPrompter)) {
    ask.variant = of_variants_.choose(variants_);
  }
  if (has(kMemory)) {
    ask.memory = of_memory_.choose({kWith, kWithout}) == kWith;
  }
  if (has(kExemplar)) {
    ask.exemplar = of_exemplar_.choose({kWith, kWithout}) == kWith;
  }
  return ask;
}

void Counsel::apply(const Event& event) {
  std::visit([this](const auto& what) { on(what); }, event);
}

void Counsel::on(const Decided& event) {
  if (const auto* evaluate = std::get_if<Evaluate>(&event.action)) {
    measured_.insert(evaluate->candidate);
    if (std::erase(released_, *evaluate) == 0) {
      inner_->apply(event);
    }
    return;
  }
  const auto& ask = std::get<Ask>(event.action);
  if (const Role* role = role_with_operator(ask.op)) {
    begin_role_call(role->name, ask, event.capacity);
  } else if (std::erase(ready_, ask) == 0) {
    begin_kernel_call(ask, event.capacity);
  }
}

/// Tells the search inside that a call for a kernel is under way.
void Counsel::begin_kernel_call(const Ask& ask, const Capacity& capacity) {
  of_variants_.begin(ask.variant);
  of_memory_.begin(ask.memory ? kWith : kWithout);
  of_exemplar_.begin(ask.exemplar ? kWith : kWithout);
  inner_->apply(Decided{ask, capacity});
}

void Counsel::begin_role_call(const std::string& role, const Ask& ask, const Capacity& capacity) {
  ++standings_[role].calls;
  open_[ask.key] = role;
  if (role == kJudge) {
    waiting_[ask.key] = waiting_call(ask);
    begin_kernel_call(waiting_[ask.key], capacity);
  } else if (role == kVerifier) {
    const Evaluate& held = unverified_[ask.key] = evaluation_of(ask);
    verified_[held.candidate] = false;
    if (measured_.empty()) {
      idle_.insert(ask.key);
    }
    inner_->apply(Decided{held, capacity});
  } else {
    calls_at_variant_ = inner_->asks();
  }
}

void Counsel::on(const Advised& event) {
  if (event.about != 0) { // of a role in front of this one
    inner_->apply(event);
    return;
  }
  const auto call = open_.find(event.key);
  if (call == open_.end()) {
    throw Error("the search log contradicts itself: advice without a call '" + event.key + "'",
                "the store was changed by hand; start a new run");
  }
  RoleStanding& standing = standings_[call->second];
  standing.useful += event.advice.empty() ? 0 : 1;
  standing.dollars += event.dollars;
  charge(event, call->second);
  release(event.key, &event);
}

/// The kernel's call that needed the advice pays for it. No single call needs the meta-prompter's.
void Counsel::charge(const Advised& event, const std::string& role) {
  if (role == kJudge) {
    judge_dollars_[waiting_.at(event.key).key] += event.dollars;
  } else if (role == kVerifier) {
    Advised charged = event;
    charged.about = unverified_.at(event.key).candidate;
    inner_->apply(charged);
  }
}

/// The call of a role has ended. `advised`: nullptr: without a reply.
void Counsel::release(const std::string& key, const Advised* advised) {
  const std::string role = open_.extract(key).mapped();
  const bool is_useful = advised != nullptr && !advised->advice.empty();
  if (role == kJudge) {
    Ask& ready = ready_.emplace_back(waiting_.extract(key).mapped());
    ready.advice = is_useful ? ready.advice : "";
  } else if (role == kVerifier) {
    release_evaluation(key, advised);
  } else if (is_useful) {
    variants_.push_back(key);
  }
}

bool Counsel::refuses(const Advised& advised) const {
  const auto held = unverified_.find(advised.key);
  return held != unverified_.end() && !advised.advice.empty() && rejects(advised.advice) &&
         !runs_anyway(settings_, held->second.candidate);
}

void Counsel::release_evaluation(const std::string& key, const Advised* advised) {
  const Evaluate held = unverified_.extract(key).mapped();
  const bool is_useful = advised != nullptr && !advised->advice.empty();
  const bool is_rejected = is_useful && rejects(advised->advice);
  verified_[held.candidate] = is_rejected;
  if (!is_useful) {
    counted_.insert(held.candidate); // there is no answer that could be right
  }
  if (!is_rejected || runs_anyway(settings_, held.candidate)) {
    released_.push_back(held);
  }
  if (advised != nullptr) {
    ++account_.answers;
    account_.dollars += advised->dollars;
    account_.idle_seconds += idle_.contains(key) ? advised->seconds : 0;
    account_.kernel_dollars += inner_->find(held.candidate)->dollars;
  }
  idle_.erase(key);
}

void Counsel::on(const Added& event) {
  Added charged = event;
  if (const auto paid = judge_dollars_.extract(event.key); !paid.empty()) {
    charged.role_dollars += paid.mapped();
  }
  inner_->apply(charged);
}

void Counsel::on(const Evaluated& event) {
  inner_->apply(event);
  measured_.erase(event.candidate);
  count_verified(event);
  settle(event.candidate);
}

void Counsel::on(const Tried& event) {
  inner_->apply(event);
  measured_.erase(event.candidate);
  settle(event.candidate);
}

void Counsel::on(const Faulted& event) {
  inner_->apply(event);
  measured_.erase(event.candidate);
  settle(event.candidate);
}

void Counsel::on(const Unanswered& event) {
  if (open_.contains(event.key)) {
    release(event.key, nullptr);
  } else {
    inner_->apply(event);
  }
}

void Counsel::on(const Resumed& event) {
  measured_.clear(); // the new session measures them again, or has their results
  inner_->apply(event);
}

/// Only the first evaluation of a candidate says whether the verifier was right.
void Counsel::count_verified(const Evaluated& event) {
  const auto verified = verified_.find(event.candidate);
  const bool is_left_out = event.outcome.verdict == tasks::Verdict::NotJudged; // by the forecaster
  if (verified == verified_.end() || is_left_out || !counted_.insert(event.candidate).second) {
    return;
  }
  const bool is_correct = event.outcome.verdict == tasks::Verdict::Correct;
  if (verified->second && !runs_anyway(settings_, event.candidate)) {
    ++account_.not_run;
  } else if (verified->second) {
    ++(is_correct ? account_.audited_correct : account_.audited_failed);
  } else {
    ++(is_correct ? account_.accepted_correct : account_.accepted_failed);
  }
  (is_correct ? account_.correct_device_seconds : account_.failed_device_seconds) +=
      event.outcome.device_seconds;
  if (RoleStanding& standing = standings_[kVerifier]; standing.off.empty()) {
    standing.off = account_.why_off();
  }
}

/// If the candidate has its final outcome, its gain over its parent counts for its prompt's arms.
void Counsel::settle(CandidateId candidate) {
  const Individual& child = *inner_->find(candidate);
  if (!child.ask || !child.outcome || child.outcome->verdict == tasks::Verdict::Infrastructure ||
      !settled_.insert(candidate).second) {
    return;
  }
  const double gain = gain_over_parent(*inner_, child, settings_.evaluator_version);
  of_variants_.end(child.ask->variant, gain);
  of_memory_.end(child.ask->memory ? kWith : kWithout, gain);
  of_exemplar_.end(child.ask->exemplar ? kWith : kWithout, gain);
}

std::vector<RoleStanding> Counsel::roles() const {
  std::vector<RoleStanding> all;
  for (const std::string& role : settings_.roles) {
    all.push_back(standings_.at(role));
  }
  return all;
}

} // namespace winnow::search
