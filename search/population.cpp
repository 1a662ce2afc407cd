#include "search/population.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace winnow::search {

using tasks::Verdict;

namespace {

// The evaluator repeats an evaluation that the machine failed. After this many faults in a row of
// one candidate the search goes on without a verdict; a resumed run judges the candidate again.
constexpr int kFaultsOfOne = 2;
// Against a log that was changed by hand.
constexpr std::int64_t kMostProposals = 1'000'000;

} // namespace

Earnings& Earnings::operator+=(const Earnings& other) {
  op = other.op;
  model = other.model;
  calls += other.calls;
  correct += other.correct;
  dollars += other.dollars;
  device_seconds += other.device_seconds;
  log_gain += other.log_gain;
  return *this;
}

void Population::apply(const Event& event) {
  try {
    std::visit([this](const auto& what) { on(what); }, event);
  } catch (const std::out_of_range&) {
    const LogEntry entry = entry_of(event);
    throw Error("the search log contradicts itself: " + entry.kind + " " + entry.detail,
                "the store was changed by hand; start a new run");
  }
}

std::optional<Action> Population::decide(const Capacity& given) const {
  Capacity capacity = given;
  if (given.asks > 0 && !why_done().empty()) {
    capacity.asks = 0;
  }
  std::optional<Action> action = next(capacity);
  if (Ask* ask = action ? std::get_if<Ask>(&*action) : nullptr) {
    ask->mission = mission_of(*ask);
  }
  return action;
}

/// If other calls build on the same kernels now, their words would be the same. So this one gets a
/// mission that none of them has: one against the limiter of the kernel, then one that fits all
/// kernels, and of these one that has gained much. Empty: there is no such call, or no mission
/// left.
std::string Population::mission_of(const Ask& ask) const {
  std::set<std::string> taken;
  bool is_alone = true;
  for (const auto& [key, other] : asked_) {
    if (other.parents == ask.parents && (other.op == "seed") == (ask.op == "seed")) {
      is_alone = false;
      taken.insert(other.mission);
    }
  }
  if (!policy_.missions || is_alone || ask.op == "repair") {
    return "";
  }
  const std::string cell = ask.parents.empty() ? "" : outcome_of(*find(ask.parents.front())).cell;
  std::vector<std::string> fitting, general, others;
  for (const Mission& mission : settings_.missions) {
    if (mission.for_seeds == (ask.op == "seed") && !taken.contains(mission.name)) {
      const bool fits = cell.find(mission.limiter) != std::string::npos;
      (mission.limiter.empty() ? general : fits ? fitting : others).push_back(mission.name);
    }
  }
  for (const std::vector<std::string>& best : {fitting, general, others}) {
    if (!best.empty()) {
      return missions_.choose(best);
    }
  }
  return "";
}

/// A kernel that is a copy of another gains nothing, so it costs the mission.
void Population::end_mission(const Individual& judged, double gain) {
  if (judged.ask && !judged.ask->mission.empty() && judged.withdrawals == 0) {
    missions_.end(judged.ask->mission, gain, judged.dollars + judged.role_dollars,
                  judged.outcome->device_seconds);
  }
}

void Population::on(const Decided& event) {
  if (const auto* evaluate = std::get_if<Evaluate>(&event.action)) {
    if (evaluate->is_heat()) {
      families_.at(evaluate->candidate).tuning.value().begin({evaluate->choices, evaluate->turns});
    } else {
      unjudged_.erase(evaluate->candidate);
    }
    return;
  }
  const auto& ask = std::get<Ask>(event.action);
  on_asked(ask);
  asked_[ask.key] = ask;
  ++asks_;
  ++earned_by(ask).calls;
  if (!ask.mission.empty()) {
    missions_.begin(ask.mission);
  }
}

void Population::on(const Added& event) {
  Individual added;
  added.id = event.candidate;
  if (!event.key.empty()) {
    added.ask = asked_.at(event.key);
    asked_.erase(event.key);
  } else {
    begin_with(event.candidate);
  }
  added.dollars = event.dollars;
  added.role_dollars = event.role_dollars;
  if (added.ask) {
    earned_by(*added.ask).dollars += event.dollars;
  }
  unjudged_.insert(event.candidate);
  if (policy_.tuning && event.choices.size() > 1) {
    families_[event.candidate].choices = event.choices;
  }
  on_added(individuals_[event.candidate] = std::move(added));
}

/// The baseline comes first, if there is one.
void Population::begin_with(CandidateId candidate) {
  if (settings_.has_baseline && baseline_ == 0) {
    baseline_ = candidate;
  } else {
    given_.push_back(candidate);
  }
}

void Population::on(const Evaluated& event) {
  unjudged_.erase(event.candidate);
  Individual& judged = individuals_.at(event.candidate);
  judged.faults = 0;
  if (judged.of_default) { // this was the best choice
    const Verdict verdict = event.outcome.verdict;
    if (verdict != Verdict::Correct && verdict != Verdict::Infrastructure) {
      families_.at(event.candidate).tuning->reject_winner(verdict);
      go_on(judged);
      return;
    }
    const bool better = is_better(event.outcome, *judged.of_default);
    settle(judged, better ? event.outcome : *judged.of_default);
    return;
  }
  const auto family = families_.find(event.candidate);
  const bool is_tuned = family != families_.end() && event.outcome.verdict == Verdict::Correct &&
                        event.outcome.speedup > 0;
  if (!is_tuned) {
    settle(judged, event.outcome);
    return;
  }
  judged.of_default = event.outcome;
  family->second.tuning.emplace(family->second.choices, settings_.tuning_seconds);
}

void Population::on(const Tried& event) {
  families_.at(event.candidate).tuning.value().finish(event.trials, event.device_seconds);
  go_on(individuals_.at(event.candidate));
}

/// After a heat.
void Population::go_on(Individual& tuned) {
  const Tuning& tuning = families_.at(tuned.id).tuning.value();
  if (!tuning.is_over()) {
    return;
  }
  if (tuning.winner()) {
    unjudged_.insert(tuned.id);
  } else {
    settle(tuned, *tuned.of_default);
  }
}

void Population::settle(Individual& judged, Outcome outcome) {
  judged.outcome = std::move(outcome);
  judged.of_default.reset();
  if (const auto family = families_.find(judged.id); family != families_.end()) {
    judged.outcome->device_seconds +=
        family->second.tuning ? family->second.tuning->device_seconds() : 0;
    if (judged.outcome->verdict == Verdict::Infrastructure) {
      family->second.tuning.reset(); // a resumed run begins anew
    } else {
      families_.erase(family);
    }
  }
  const double gain = judged.gain = follow_leader(judged);
  if (judged.outcome->verdict != Verdict::Infrastructure) {
    again_.erase(judged.id);
  }
  settled_.push_back(judged.id);
  if (judged.ask) {
    Earnings& earned = earned_by(*judged.ask);
    earned.correct += judged.outcome->verdict == Verdict::Correct ? 1 : 0;
    earned.device_seconds += judged.outcome->device_seconds;
    earned.log_gain += gain;
  }
  end_mission(judged, gain);
  on_settled(judged, gain);
}

/// Returns what the candidate has gained over the leader before, beyond the noise.
double Population::follow_leader(const Individual& judged) {
  const Individual* before = leader();
  if (&judged == correct_baseline() || !counts(*judged.outcome) ||
      !beats(*judged.outcome, before != nullptr ? &*before->outcome : nullptr)) {
    return 0;
  }
  leader_ = judged.id;
  return std::max(value(judged) - (before != nullptr ? value(*before) : 0), 0.0);
}

void Population::find_leader_again() {
  leader_ = 0;
  for (const CandidateId id : settled_) {
    follow_leader(individuals_.at(id));
  }
}

Earnings& Population::earned_by(const Ask& ask) {
  Earnings& earned = earnings_[{ask.op, ask.model}];
  earned.op = ask.op;
  earned.model = ask.model;
  return earned;
}

std::vector<Earnings> Population::earnings() const {
  std::vector<Earnings> all;
  all.reserve(earnings_.size());
  for (const auto& [arm, earned] : earnings_) {
    all.push_back(earned);
  }
  return all;
}

std::string Population::model_in_turn(std::size_t turn) const {
  const std::vector<std::string>& models = settings_.models;
  return models.size() < 2 ? "" : models[turn % models.size()];
}

void Population::on(const Granted& event) {
  const auto all = static_cast<std::int64_t>(settings_.proposals) + event.calls;
  settings_.proposals = static_cast<std::size_t>(std::clamp<std::int64_t>(all, 0, kMostProposals));
  on_granted();
}

void Population::on(const Faulted& event) {
  Individual& failed = individuals_.at(event.candidate);
  if (event.turns > 0) {
    families_.at(event.candidate).tuning.value().fail({event.choices, event.turns});
    go_on(failed);
    return;
  }
  if (++failed.faults < kFaultsOfOne) {
    unjudged_.insert(event.candidate);
    return;
  }
  Outcome fault;
  fault.verdict = Verdict::Infrastructure;
  settle(failed, failed.of_default ? *failed.of_default : fault);
}

void Population::on(const Unanswered& event) {
  on_unanswered(asked_.at(event.key));
}

/// The decorators heed the advice itself (counsel.h, forecast_queue.h).
void Population::on(const Advised& event) {
  if (event.about != 0) {
    individuals_.at(event.about).role_dollars += event.dollars;
  }
}

/// While a candidate is tuned, its evaluation cannot be withdrawn: the caller waits for the end.
void Population::on(const Withdrawn& event) {
  Individual& doubted = individuals_.at(event.candidate);
  if (!doubted.outcome) {
    return;
  }
  if (doubted.ask) {
    Earnings& earned = earned_by(*doubted.ask);
    earned.correct -= doubted.outcome->verdict == Verdict::Correct ? 1 : 0;
    earned.log_gain -= doubted.gain;
  }
  doubted.outcome.reset();
  doubted.gain = 0;
  doubted.faults = 0;
  ++doubted.withdrawals;
  unjudged_.insert(doubted.id);
  again_[doubted.id] = event.choice;
  std::erase(settled_, doubted.id);
  find_leader_again();
  on_withdrawn(doubted);
}

void Population::on(const Resumed&) {
  on_resumed();
  for (auto& [id, individual] : individuals_) {
    individual.faults = 0;
    if (individual.outcome && individual.outcome->verdict == Verdict::Infrastructure) {
      individual.outcome.reset();
      std::erase(settled_, id);
      unjudged_.insert(id);
      on_reopened(individual);
    }
  }
}

const Individual* Population::find(CandidateId candidate) const {
  const auto found = individuals_.find(candidate);
  return found == individuals_.end() ? nullptr : &found->second;
}

const Individual* Population::correct_baseline() const {
  const Individual* baseline = find(baseline_);
  const bool is_correct = baseline != nullptr && outcome_of(*baseline).verdict == Verdict::Correct;
  return is_correct ? baseline : nullptr;
}

bool Population::may_build() const {
  return (!settings_.has_baseline || correct_baseline() != nullptr) &&
         std::all_of(given_.begin(), given_.end(), [&](CandidateId id) {
           return outcome_of(*find(id)).verdict != Verdict::NotJudged;
         });
}

std::vector<const Individual*> Population::good_given() const {
  std::vector<const Individual*> good;
  for (const CandidateId id : given_) {
    if (const Individual* kernel = find(id); counts(outcome_of(*kernel))) {
      good.push_back(kernel);
    }
  }
  return good;
}

const Individual* Population::root() const {
  const Individual* fastest = nullptr;
  for (const Individual* kernel : good_given()) {
    if (fastest == nullptr || outcome_of(*kernel).speedup > outcome_of(*fastest).speedup) {
      fastest = kernel;
    }
  }
  return fastest != nullptr ? fastest : correct_baseline();
}

std::optional<Evaluate> Population::next_evaluation() const {
  if (!unjudged_.empty()) {
    Evaluate evaluate;
    evaluate.candidate = *unjudged_.begin();
    evaluate.incumbent = rival_of(evaluate.candidate);
    if (individuals_.at(evaluate.candidate).of_default) {
      evaluate.choices = {families_.at(evaluate.candidate).tuning->winner().value()};
    } else if (const auto again = again_.find(evaluate.candidate);
               again != again_.end() && !again->second.empty()) {
      evaluate.choices = {again->second};
    }
    return evaluate;
  }
  for (const auto& [candidate, family] : families_) {
    if (const auto heat = family.tuning ? family.tuning->next() : std::nullopt) {
      return Evaluate{candidate, std::nullopt, heat->choices, heat->turns};
    }
  }
  return std::nullopt;
}

const Outcome& outcome_of(const Individual& individual) {
  static const Outcome none;
  return individual.outcome ? *individual.outcome : none;
}

bool is_failure(const Individual& individual) {
  const Verdict verdict = outcome_of(individual).verdict;
  return verdict != Verdict::Correct && verdict != Verdict::Infrastructure &&
         verdict != Verdict::NotJudged;
}

double value(const Individual& individual) {
  const Outcome& outcome = outcome_of(individual);
  const double low = outcome.speedup_bounds.known() ? outcome.speedup_bounds.low : outcome.speedup;
  return low > 0 ? std::log(low) : 0;
}

Card card_of(const Individual& individual) {
  return {individual.id, individual.number};
}

std::size_t repairs_worth(Verdict verdict) {
  switch (verdict) {
  case Verdict::BadReply:
  case Verdict::BadPlan:
  case Verdict::CompileError:
    return 2;
  case Verdict::OverLimit:
  case Verdict::LaunchError:
  case Verdict::Timeout:
  case Verdict::Crashed:
  case Verdict::OutOfBounds:
  case Verdict::ModifiedInput:
  case Verdict::UnwrittenOutput:
  case Verdict::Wrong:
  case Verdict::Unstable:
  case Verdict::LowPrecision:
  case Verdict::WrongUnseen:
  case Verdict::Refused:
    return 1;
  case Verdict::NotJudged:
  case Verdict::Implausible:
  case Verdict::Unsupported:
  case Verdict::Correct:
  case Verdict::Infrastructure:
    return 0;
  }
  return 0;
}

} // namespace winnow::search
