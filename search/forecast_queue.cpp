#include "search/forecast_queue.h"

#include "base/digest.h"
#include "base/error.h"
#include "search/population.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::search {
namespace {

constexpr const char* kForecaster = "forecaster";
constexpr const char* kOperator = "forecast";

/// Of an advice that the role's parser accepted.
SpeedChances chances_in(const std::string& advice) {
  return nlohmann::json::parse(advice).at("chances").get<SpeedChances>();
}

bool is_settled(const Individual& individual) {
  return individual.outcome && individual.outcome->verdict != tasks::Verdict::Infrastructure;
}

} // namespace

std::string forecast_key(const Settings& settings, const std::string& kernel_key) {
  const std::string prefix = settings.task + "/";
  return prefix + kOperator + "/" +
         (kernel_key.starts_with(prefix) ? kernel_key.substr(prefix.size()) : kernel_key);
}

bool is_measured_anyway(const Settings& settings, const std::string& kernel_key) {
  constexpr std::uint64_t kParts = 1000;
  const std::uint64_t drawn =
      derived_seed(settings.seed, forecast_key(settings, kernel_key)) % kParts;
  return static_cast<double>(drawn) < kForecastAuditShare * kParts;
}

ForecastQueue::ForecastQueue(std::unique_ptr<Search> inner, Settings settings)
    : inner_(std::move(inner)),
      settings_(std::move(settings)), standing_{kForecaster, 0, 0, 0, {}} {}

std::optional<Action> ForecastQueue::decide(const Capacity& capacity) const {
  if (capacity.evaluations > 0 && !waiting_.empty()) {
    return next_for_device();
  }
  std::optional<Action> action = inner_->decide(capacity);
  if (action && std::holds_alternative<Evaluate>(*action)) {
    return action;
  }
  if (capacity.asks > 0) {
    if (std::optional<Ask> forecast = next_forecast()) {
      return *std::move(forecast);
    }
  }
  return action;
}

/// Of the waiting candidates the one with the best chance; the oldest among equals.
Evaluate ForecastQueue::next_for_device() const {
  auto best = waiting_.begin();
  double highest = -1;
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (const double chance = chance_of(it->first); chance > highest) {
      highest = chance;
      best = it;
    }
  }
  Evaluate evaluate = best->second;
  evaluate.incumbent = inner_->rival_of(evaluate.candidate); // there may be a newer one by now
  return evaluate;
}

/// About the candidate that waits longest, of those whose forecast can be measured.
std::optional<Ask> ForecastQueue::next_forecast() const {
  if (!standing_.off.empty()) {
    return std::nullopt;
  }
  for (const auto& [candidate, evaluate] : waiting_) {
    const Individual* parent = parent_of(candidate);
    if (asked_.contains(candidate) || parent == nullptr) {
      continue;
    }
    Ask ask;
    ask.op = kOperator;
    ask.key = forecast_key(settings_, inner_->find(candidate)->ask->key);
    ask.parents = {candidate};
    ask.second = card_of(*parent);
    const auto model = settings_.role_models.find(kForecaster);
    ask.model =
        model != settings_.role_models.end() ? model->second : inner_->find(candidate)->ask->model;
    return ask;
  }
  return std::nullopt;
}

/// nullptr: the candidate has no parent whose speed is known.
const Individual* ForecastQueue::parent_of(CandidateId candidate) const {
  const Individual* own = inner_->find(candidate);
  if (own == nullptr || !own->ask || own->ask->parents.empty()) {
    return nullptr;
  }
  const Individual* parent = inner_->find(own->ask->parents.front());
  const bool is_known = parent != nullptr &&
                        is_contender(outcome_of(*parent), settings_.evaluator_version) &&
                        outcome_of(*parent).speedup > 0;
  return is_known ? parent : nullptr;
}

/// The candidate's own facts, their differences from the parent's, and how fast the parent is.
Facts ForecastQueue::facts_of(CandidateId candidate) const {
  const auto own = facts_.find(candidate);
  Facts facts = own != facts_.end() ? own->second : Facts{};
  const Individual* parent = parent_of(candidate);
  if (parent == nullptr) {
    return facts;
  }
  if (const auto before = facts_.find(parent->id); own != facts_.end() && before != facts_.end()) {
    for (const auto& [name, value] : own->second) {
      if (const auto found = before->second.find(name); found != before->second.end()) {
        facts["change of " + name] = value - found->second;
      }
    }
  }
  facts["parent's log speedup"] = std::log(outcome_of(*parent).speedup);
  facts["parent's speed of light"] = outcome_of(*parent).speed_of_light;
  return facts;
}

double ForecastQueue::chance_of_beating_best(CandidateId candidate,
                                             const SpeedChances& chances) const {
  const Individual* parent = parent_of(candidate);
  if (parent == nullptr) {
    return chance_above(chances, 1);
  }
  const std::optional<CandidateId> rival = inner_->rival_of(candidate);
  const Individual* best = rival ? inner_->find(*rival) : nullptr;
  const double to_beat = best != nullptr ? outcome_of(*best).speedup : 1;
  // The parent has not beaten the best kernel, even if its speedup is higher by luck. So the
  // candidate must be faster than both.
  return chance_above(chances, std::max(to_beat / outcome_of(*parent).speedup, 1.0));
}

double ForecastQueue::chance_of(CandidateId candidate) const {
  const auto asked = asked_.find(candidate);
  const Forecast* forecast = asked != asked_.end() ? &forecasts_.at(asked->second) : nullptr;
  const bool is_forecast = standing_.off.empty() && forecast != nullptr && forecast->chances;
  return chance_of_beating_best(candidate, is_forecast ? *forecast->chances
                                                       : neighbours_.chances(facts_of(candidate)));
}

bool ForecastQueue::is_improbable(CandidateId candidate, const SpeedChances& chances) const {
  return standing_.off.empty() && waiting_.contains(candidate) &&
         chance_of_beating_best(candidate, chances) < kImprobable;
}

bool ForecastQueue::refuses(const Advised& advised) const {
  if (!open_.contains(advised.key)) {
    return inner_->refuses(advised);
  }
  const CandidateId candidate = forecasts_.at(advised.key).candidate;
  return !advised.advice.empty() && is_improbable(candidate, chances_in(advised.advice)) &&
         !is_measured_anyway(settings_, inner_->find(candidate)->ask->key);
}

void ForecastQueue::apply(const Event& event) {
  std::visit([this](const auto& what) { on(what); }, event);
  if (const auto* added = std::get_if<Added>(&event)) {
    facts_[added->candidate] = added->facts;
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event)) {
    waiting_.erase(evaluated->candidate); // nobody needs to run it any more
    settle(evaluated->candidate);
  } else if (const auto* tried = std::get_if<Tried>(&event)) {
    settle(tried->candidate);
  } else if (const auto* faulted = std::get_if<Faulted>(&event)) {
    settle(faulted->candidate);
  }
  take_over_evaluations();
}

void ForecastQueue::on(const Decided& event) {
  if (const auto* evaluate = std::get_if<Evaluate>(&event.action)) {
    if (is_first_evaluation(*evaluate) && waiting_.erase(evaluate->candidate) > 0) {
      if (evaluate->incumbent) {
        raced_[evaluate->candidate] = *evaluate->incumbent;
      }
      return; // the search inside knows already
    }
  } else if (const auto& ask = std::get<Ask>(event.action); ask.op == kOperator) {
    const CandidateId candidate = ask.parents.front();
    ++standing_.calls;
    open_.insert(ask.key);
    asked_[candidate] = ask.key;
    forecasts_[ask.key] = {candidate, neighbours_.chances(facts_of(candidate)), {}, 0, false};
    return;
  }
  inner_->apply(event);
}

void ForecastQueue::on(const Advised& event) {
  if (open_.erase(event.key) == 0) {
    inner_->apply(event);
    return;
  }
  standing_.dollars += event.dollars;
  Forecast& forecast = forecasts_.at(event.key);
  Advised charged = event;
  charged.about = forecast.candidate; // its call pays
  inner_->apply(charged);
  if (event.advice.empty()) {
    return;
  }
  ++standing_.useful;
  forecast.chances = chances_in(event.advice);
  forecast.chance = chance_of_beating_best(forecast.candidate, *forecast.chances);
  forecast.is_improbable = is_improbable(forecast.candidate, *forecast.chances);
}

void ForecastQueue::on(const Unanswered& event) {
  if (open_.erase(event.key) == 0) {
    inner_->apply(event);
  }
}

bool ForecastQueue::is_first_evaluation(const Evaluate& evaluate) const {
  const Individual* candidate = inner_->find(evaluate.candidate);
  return !evaluate.is_heat() && evaluate.choices.empty() && candidate != nullptr && candidate->ask;
}

/// Moves what the search inside would evaluate now into the queue. This follows from the events, so
/// the log needs no entry for it.
void ForecastQueue::take_over_evaluations() {
  const Capacity no_calls{0};
  for (;;) {
    const std::optional<Action> next = inner_->decide(no_calls);
    const auto* evaluate = next ? std::get_if<Evaluate>(&*next) : nullptr;
    if (evaluate == nullptr || !is_first_evaluation(*evaluate)) {
      return;
    }
    waiting_[evaluate->candidate] = *evaluate;
    inner_->apply(Decided{*evaluate, no_calls});
  }
}

/// Learns from a candidate that has its final outcome, and scores its forecast.
void ForecastQueue::settle(CandidateId candidate) {
  const Individual& own = *inner_->find(candidate);
  if (!is_settled(own) || !settled_.insert(candidate).second) {
    return;
  }
  const Individual* parent = parent_of(candidate);
  if (parent == nullptr || own.outcome->verdict != tasks::Verdict::Correct ||
      own.outcome->speedup <= 0) {
    return;
  }
  const double ratio = own.outcome->speedup / outcome_of(*parent).speedup;
  const std::size_t bin = speed_bin(ratio);
  neighbours_.add(facts_of(candidate), bin);
  const auto asked = asked_.find(candidate);
  const Forecast* forecast = asked != asked_.end() ? &forecasts_.at(asked->second) : nullptr;
  if (forecast == nullptr || !forecast->chances) {
    return;
  }
  const auto raced = raced_.find(candidate);
  const Individual* best = raced != raced_.end() ? inner_->find(raced->second) : nullptr;
  const ForecastScore& scored =
      scores_[candidate] = {asked->second,
                            ratio,
                            ranked_probability_score(*forecast->chances, bin),
                            ranked_probability_score(forecast->model_free, bin),
                            forecast->chance,
                            forecast->is_improbable,
                            beats(*own.outcome, best != nullptr ? &*best->outcome : nullptr)};
  account_.add(scored);
  if (standing_.off.empty()) {
    standing_.off = account_.why_off();
  }
}

const ForecastScore* ForecastQueue::forecast_of(CandidateId candidate) const {
  const auto found = scores_.find(candidate);
  return found == scores_.end() ? nullptr : &found->second;
}

std::vector<RoleStanding> ForecastQueue::roles() const {
  std::vector<RoleStanding> all = inner_->roles();
  const auto place = std::find(settings_.roles.begin(), settings_.roles.end(), kForecaster);
  all.insert(all.begin() + (place - settings_.roles.begin()), standing_);
  return all;
}

} // namespace winnow::search
