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
// The weight of a mission that fits the kernel; one that does not fit has the inverse.
constexpr double kFits = 2;
// A call's typical gain (ln 1.1), which the call that made a copy did not even try for.
constexpr double kCostOfACopy = 0.1;

/// What the prompt of a call shows, without the calls that are under way: two calls of which this
/// is the same have the same words.
std::string shown_by(const Ask& ask) {
  std::string text = ask.op == "seed" ? "seed" : "";
  const auto add = [&](CandidateId candidate) { text += std::to_string(candidate) + ' '; };
  std::for_each(ask.parents.begin(), ask.parents.end(), add);
  for (const std::optional<Card>& card : {ask.best, ask.previous, ask.second}) {
    add(card ? card->candidate : 0);
  }
  for (const std::vector<Card>* cards : {&ask.history, &ask.families, &ask.failures}) {
    text += '|';
    for (const Card& card : *cards) {
      add(card.candidate);
    }
  }
  return text;
}

} // namespace

Earnings& Earnings::operator+=(const Earnings& other) {
  op = other.op;
  model = other.model;
  calls += other.calls;
  correct += other.correct;
  copies += other.copies;
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
    give_mission(*ask);
  }
  return action;
}

std::string Population::why_done() const {
  if (!enough_.empty()) {
    return enough_;
  }
  return is_near_bound() ? "the best kernel is near the roofline" : why_stopped();
}

bool Population::is_near_bound() const {
  return leader() != nullptr && settings_.enough_speed_of_light > 0 &&
         outcome_of(*leader()).speed_of_light >= settings_.enough_speed_of_light;
}

/// A repair has none: its kernel must work first.
bool Population::may_have_mission(const Ask& ask) const {
  return policy_.missions && !settings_.missions.empty() && ask.op != "repair";
}

/// Calls that build on the same kernels now, or that show what an earlier call has shown, would
/// have the same words. The first of them is free to choose; each other one gets a mission that the
/// fewest of them have, and of these the one that promises most.
void Population::give_mission(Ask& ask) const {
  if (!may_have_mission(ask)) {
    return;
  }
  const std::map<std::string, int> taken = taken_missions(ask);
  if (taken.empty()) {
    return;
  }
  const std::string cell = ask.parents.empty() ? "" : outcome_of(*find(ask.parents.front())).cell;
  const Mission* best = nullptr;
  std::pair<int, double> rank;
  for (const Mission& mission : settings_.missions) {
    if (mission.for_seeds == (ask.op == "seed")) {
      const auto found = taken.find(mission.name);
      const std::pair<int, double> own{found == taken.end() ? 0 : -found->second,
                                       promise(mission, cell)};
      if (best == nullptr || own > rank) {
        best = &mission;
        rank = own;
      }
    }
  }
  if (best != nullptr) {
    ask.mission = best->name;
    ask.mission_repeats = -rank.first;
  }
}

/// How many calls with the words of this one have each mission, or none ("").
std::map<std::string, int> Population::taken_missions(const Ask& ask) const {
  const std::string shown = shown_by(ask);
  const auto told = told_.find(shown);
  std::map<std::string, int> taken;
  if (told != told_.end()) {
    taken = told->second;
  }
  for (const auto& [key, other] : asked_) {
    if (other.parents == ask.parents && (other.op == "seed") == (ask.op == "seed") &&
        shown_by(other) != shown) {
      ++taken[other.mission];
    }
  }
  return taken;
}

/// What the mission has earned, with an allowance for doubt, times how well it fits.
double Population::promise(const Mission& mission, const std::string& cell_of_parent) const {
  const auto has_mark = [&](const std::string& cell) {
    return cell.find(mission.mark) != std::string::npos;
  };
  double fit = 1;
  if (!mission.limiter.empty()) {
    fit = cell_of_parent.find(mission.limiter) != std::string::npos ? kFits : 1 / kFits;
  } else if (!mission.mark.empty() && !structures_.empty()) {
    fit = std::none_of(structures_.begin(), structures_.end(), has_mark) ? kFits : 1 / kFits;
  }
  const double index = missions_.index(mission.name);
  return index > 0 ? index * fit : index / fit;
}

/// A copy of another kernel costs its mission what the other one cost, and more than a failure.
void Population::end_mission(const Individual& judged, double gain) {
  if (!judged.ask || judged.ask->mission.empty() || judged.withdrawals > 0) {
    return;
  }
  const Individual* copied = copied_by(judged);
  const double seconds = std::max(judged.outcome->device_seconds,
                                  copied != nullptr ? outcome_of(*copied).device_seconds : 0);
  missions_.end(judged.ask->mission, gain - (copied != nullptr ? kCostOfACopy : 0),
                judged.dollars + judged.role_dollars, seconds);
}

/// An earlier candidate with the same kernel; nullptr: there is none.
const Individual* Population::copied_by(const Individual& judged) const {
  for (const std::string& digest : {judged.outcome->code, judged.outcome->kernel}) {
    const auto first = first_with_.find(digest);
    if (first != first_with_.end() && first->second != judged.id) {
      return find(first->second);
    }
  }
  return nullptr;
}

void Population::remember_kernel(const Outcome& outcome, CandidateId candidate) {
  for (const std::string& digest : {outcome.code, outcome.kernel}) {
    if (!digest.empty()) {
      first_with_.try_emplace(digest, candidate);
    }
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
  for (Earnings* earned : earned_by(ask)) {
    ++earned->calls;
  }
  if (may_have_mission(ask)) {
    ++told_[shown_by(ask)][ask.mission];
  }
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
    for (Earnings* earned : earned_by(*added.ask)) {
      earned->dollars += event.dollars;
    }
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
  remember_kernel(event.outcome, event.candidate);
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
    for (Earnings* earned : earned_by(*judged.ask)) {
      earned->correct += judged.outcome->verdict == Verdict::Correct ? 1 : 0;
      earned->copies += judged.withdrawals == 0 && copied_by(judged) != nullptr ? 1 : 0;
      earned->device_seconds += judged.outcome->device_seconds;
      earned->log_gain += gain;
    }
  }
  end_mission(judged, gain);
  remember_kernel(*judged.outcome, judged.id);
  if (counts(*judged.outcome)) {
    structures_.insert(judged.outcome->cell);
  }
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

std::array<Earnings*, 2> Population::earned_by(const Ask& ask) {
  Earnings& of_operator = earnings_[{ask.op, ask.model}];
  of_operator.op = ask.op;
  of_operator.model = ask.model;
  Earnings& of_mission = earnings_of_missions_[ask.mission];
  of_mission.op = ask.mission;
  return {&of_operator, &of_mission};
}

std::vector<Earnings> Population::earnings() const {
  std::vector<Earnings> all;
  all.reserve(earnings_.size());
  for (const auto& [arm, earned] : earnings_) {
    all.push_back(earned);
  }
  return all;
}

std::vector<Earnings> Population::earnings_of_missions() const {
  std::vector<Earnings> all;
  for (const auto& [mission, earned] : earnings_of_missions_) {
    all.push_back(earned);
  }
  const bool has_some = std::any_of(all.begin(), all.end(),
                                    [](const Earnings& earned) { return !earned.op.empty(); });
  return has_some ? all : std::vector<Earnings>();
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
    for (Earnings* earned : earned_by(*doubted.ask)) {
      earned->correct -= doubted.outcome->verdict == Verdict::Correct ? 1 : 0;
      earned->log_gain -= doubted.gain;
    }
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
