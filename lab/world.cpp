#include "lab/world.h"

#include "search/population.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace winnow::lab {
namespace {

using tasks::ParameterChoice;
using tasks::Verdict;

// Standard deviations in half a 95 % interval and in half a 99 % interval.
constexpr double kWidthOf95 = 1.96;
constexpr double kWidthOf99 = 2.576;
// The width of a race holds for so many turns, the number of turns of the last rung of a tuning.
constexpr double kTurnsOfARace = 12;
// Speeds beyond e^20 times the baseline's are no speeds; their exponentials would overflow.
constexpr double kMostLevel = 20;

/// Two parameters, so that choices have neighbours.
std::vector<ParameterChoice> choices_in_grid(std::size_t count) {
  const auto width = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  std::vector<ParameterChoice> choices;
  for (std::size_t i = 0; i < count; ++i) {
    choices.push_back(
        {{"A", static_cast<std::int64_t>(i / width)}, {"B", static_cast<std::int64_t>(i % width)}});
  }
  return choices;
}

double distance(const ParameterChoice& a, const ParameterChoice& b) {
  double sum = 0;
  for (const auto& [name, value] : a) {
    sum += static_cast<double>(std::abs(value - b.at(name)));
  }
  return sum;
}

/// A log speedup at one choice: the loss grows with the distance from the best choice.
double level_at(const World::Kernel& kernel, std::size_t choice) {
  if (kernel.choices.empty()) {
    return kernel.level;
  }
  const ParameterChoice& best = kernel.choices[kernel.best_choice];
  const double of_default = distance(kernel.choices.front(), best);
  return kernel.level - kernel.gap * distance(kernel.choices[choice], best) / of_default;
}

std::size_t index_of(const World::Kernel& kernel, const ParameterChoice& choice) {
  const auto found = std::find(kernel.choices.begin(), kernel.choices.end(), choice);
  return found == kernel.choices.end() ? 0
                                       : static_cast<std::size_t>(found - kernel.choices.begin());
}

/// `u` picks a verdict. Correct comes first, so that a better model fails where a worse one fails.
Verdict picked_verdict(const VerdictShares& shares, double odds_factor, double u) {
  const auto correct = shares.find(Verdict::Correct);
  const double share = correct == shares.end() ? 0 : correct->second;
  const double with_model = share * odds_factor / (1 - share + share * odds_factor);
  if (share >= 1 || u < with_model) {
    return Verdict::Correct;
  }
  double rest = (u - with_model) / (1 - with_model) * (1 - share);
  Verdict last = Verdict::Wrong;
  for (const auto& [verdict, own] : shares) {
    if (verdict == Verdict::Correct || own <= 0) {
      continue;
    }
    last = verdict;
    rest -= own;
    if (rest < 0) {
      break;
    }
  }
  return last;
}

std::string name_of(search::CandidateId candidate, std::size_t choice) {
  return fmt::format("{}/{}", candidate, choice);
}

} // namespace

/// What a call draws, always in this order and number, so that like calls stay alike.
struct World::Luck {
  explicit Luck(Draws& draws)
      : verdict(draws.uniform()), jumps(draws.uniform()), structure(draws.uniform()),
        improves(draws.uniform()), amount(draws.uniform()), loss(draws.exponential(1)),
        alike(draws.uniform()) {}
  double verdict, jumps, structure, improves, amount;
  double loss; ///< mean 1
  double alike;
  /// As Draws::share().
  double share(double mean) const { return std::pow(amount, (1 - mean) / mean); }
};

World::World(const Landscape& landscape, std::uint64_t seed) : landscape_(landscape), seed_(seed) {
  Draws draws(seed, "task");
  const Landscape::Task& task = landscape.task;
  highest_ = std::min(draws.lognormal(task.ceiling, task.ceiling_spread), kMostLevel);
  for (std::size_t i = 0; i < task.structures; ++i) {
    const double share = task.least_ceiling + (1 - task.least_ceiling) * draws.uniform();
    ceilings_.push_back(highest_ * share);
  }
  // One structure is the best one.
  ceilings_[static_cast<std::size_t>(draws.uniform() * static_cast<double>(task.structures))] =
      highest_;
  suggestion_ = {draws.uniform(), draws.uniform(), draws.uniform(), draws.exponential(1)};
}

const LabModel& World::model_of(const search::Ask& ask) const {
  for (const LabModel& model : landscape_.models) {
    if (model.name == ask.model) {
      return model;
    }
  }
  return landscape_.models.front();
}

World::Reply World::answer(const search::Ask& ask, std::size_t number,
                           const search::Search& search) const {
  Draws draws(seed_, fmt::format("call {}", number));
  Luck luck(draws);
  constexpr double kCallSpread = 0.5;                  // of prices and latencies of one model
  const double size = draws.lognormal(1, kCallSpread); // a long reply is slow and dear
  const LabModel& model = model_of(ask);
  const Kernel* parent = ask.parents.empty() ? nullptr : &kernels_.at(ask.parents.front());
  const bool is_first = parent == nullptr || parent->structure == kNoStructure || ask.op == "seed";
  const ParentState state = is_first ? ParentState::First : state_after(parent->verdict);
  Reply reply;
  if (is_first) {
    follow_suggestion(luck);
    reply.kernel = first_kernel(ask, model, luck, search);
  } else if (state == ParentState::Correct) {
    reply.kernel = child_of(*parent, ask, model, luck, search);
  } else {
    reply.kernel = *parent; // a repair brings the kernel that was meant
  }
  reply.kernel.verdict =
      picked_verdict(landscape_.verdicts_after(state), model.correct_odds, luck.verdict);
  if (state == ParentState::First || state == ParentState::Correct) {
    add_parameters(reply.kernel, draws);
  }
  reply.dollars = model.dollars * size;
  reply.seconds = model.seconds * size;
  return reply;
}

/// What the prompt shows changes the chance of a gain only if the landscape says so.
double World::prompt_effect(const search::Ask& ask, const search::Search& search) const {
  const Landscape::Effects& effects = landscape_.effects;
  double factor = ask.op == "contrast" ? effects.contrast : 1;
  factor *= ask.failures.empty() ? 1 : effects.failures;
  if (effects.regressed != 1 && ask.previous && ask.best) {
    const search::Individual* previous = search.find(ask.previous->candidate);
    const search::Individual* best = search.find(ask.best->candidate);
    const bool are_correct = previous != nullptr && best != nullptr && previous->outcome &&
                             best->outcome && previous->outcome->verdict == Verdict::Correct;
    if (are_correct &&
        previous->outcome->speedup < search::kRegressedFraction * best->outcome->speedup) {
      factor *= effects.regressed;
    }
  }
  return factor;
}

/// Models repeat themselves: a first kernel may be the one that the task suggests.
void World::follow_suggestion(Luck& luck) const {
  if (luck.alike < landscape_.gains.first_alike) {
    luck.structure = suggestion_.structure;
    luck.improves = suggestion_.improves;
    luck.amount = suggestion_.amount;
    luck.loss = suggestion_.loss;
  }
}

std::size_t World::structure_of_seed(const search::Ask& ask, const Luck& luck) const {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < ceilings_.size(); ++i) {
    const bool is_told =
        std::any_of(ask.families.begin(), ask.families.end(), [&](const search::Card& card) {
          return kernels_.at(card.candidate).structure == i;
        });
    if (!is_told) {
      open.push_back(i);
    }
  }
  const auto pick = [&](std::size_t count) {
    return static_cast<std::size_t>(luck.structure * static_cast<double>(count));
  };
  const bool avoids = !open.empty() && luck.jumps < landscape_.effects.families;
  return avoids ? open[pick(open.size())] : pick(ceilings_.size());
}

World::Kernel World::first_kernel(const search::Ask& ask, const LabModel& model, const Luck& luck,
                                  const search::Search& search) const {
  const Landscape::Gains& gains = landscape_.gains;
  Kernel kernel;
  kernel.structure = structure_of_seed(ask, luck);
  const double faster =
      (1 - gains.first_slower) * model.improves_factor * prompt_effect(ask, search);
  kernel.level = luck.improves < faster
                     ? ceilings_[kernel.structure] * luck.share(gains.first_share)
                     : -gains.regression * luck.loss;
  return kernel;
}

std::size_t World::structure_of_child(const Kernel& parent, const search::Ask& ask,
                                      const Luck& luck) const {
  if (luck.jumps >= landscape_.jump_of(ask.op) || ceilings_.size() < 2) {
    return parent.structure;
  }
  if (ask.op == "crossover" && ask.parents.size() > 1) {
    const Kernel& other = kernels_.at(ask.parents[1]);
    return other.structure == kNoStructure ? parent.structure : other.structure;
  }
  const auto other =
      static_cast<std::size_t>(luck.structure * static_cast<double>(ceilings_.size() - 1));
  return other < parent.structure ? other : other + 1;
}

World::Kernel World::child_of(const Kernel& parent, const search::Ask& ask, const LabModel& model,
                              const Luck& luck, const search::Search& search) const {
  const Landscape::Gains& gains = landscape_.gains;
  Kernel kernel;
  kernel.structure = structure_of_child(parent, ask, luck);
  const double ceiling = ceilings_[kernel.structure];
  const double gap = ceiling - parent.level;
  const double left = ceiling > 0 ? std::clamp(gap / ceiling, 0.0, 1.0) : 0;
  const double chance = gains.improves * model.improves_factor * prompt_effect(ask, search) *
                        std::pow(left, gains.hardness);
  kernel.level = gap > 0 && luck.improves < chance
                     ? parent.level + gap * luck.share(gains.gap_share)
                     : parent.level - gains.regression * luck.loss;
  return kernel;
}

void World::add_parameters(Kernel& kernel, Draws& draws) const {
  const Landscape::Tuning& tuning = landscape_.tuning;
  const bool is_tunable = draws.uniform() < tuning.tunable;
  const double gap = draws.exponential(tuning.gap);
  const auto best =
      static_cast<std::size_t>(draws.uniform() * static_cast<double>(tuning.choices - 1));
  const bool is_slow = draws.uniform() < landscape_.hidden.slow;
  const double loss = draws.exponential(landscape_.hidden.slowdown);
  kernel.hidden_loss = is_slow ? loss : 0;
  if (is_tunable) {
    kernel.choices = choices_in_grid(tuning.choices);
    kernel.best_choice = 1 + best;
    kernel.gap = gap;
  }
}

void World::add(search::CandidateId candidate, Kernel kernel) {
  kernel.level = std::max(kernel.level, -kMostLevel);
  kernels_[candidate] = std::move(kernel);
}

void World::add_baseline(search::CandidateId candidate) {
  kernels_[candidate] = Kernel{};
}

search::Outcome World::evaluate(const search::Evaluate& what, const search::Search& search) {
  const Kernel& kernel = kernels_.at(what.candidate);
  const std::size_t choice = what.choices.empty() ? 0 : index_of(kernel, what.choices.front());
  Draws draws(seed_, fmt::format("evaluation {} {}", what.candidate, choice));
  search::Outcome outcome;
  outcome.verdict = kernel.verdict;
  outcome.evaluator_version = kEvaluatorVersion;
  outcome.kernel = name_of(what.candidate, choice);
  outcome.promoted = true; // unless Search::promotes() says no
  const Landscape::Device& device = landscape_.device;
  switch (state_after(kernel.verdict)) {
  case ParentState::Correct:
    outcome.device_seconds = draws.lognormal(device.right, device.spread);
    break;
  case ParentState::Wrong:
    outcome.device_seconds = draws.lognormal(device.wrong, device.spread);
    return outcome;
  default: // no device has seen the kernel
    return outcome;
  }
  outcome.cell =
      kernel.structure == kNoStructure ? "baseline" : fmt::format("structure {}", kernel.structure);
  const double level = level_at(kernel, choice);
  levels_[outcome.kernel] = level;
  hidden_losses_[outcome.kernel] = kernel.hidden_loss;
  time(level, kernel.hidden_loss, draws, outcome);
  if (const search::Individual* incumbent = what.incumbent ? search.find(*what.incumbent) : nullptr;
      incumbent != nullptr && incumbent->outcome) {
    race(incumbent->outcome->kernel, draws, outcome);
  }
  return outcome;
}

void World::time(double level, double hidden_loss, Draws& draws, search::Outcome& outcome) const {
  const double half = landscape_.measurement.interval;
  const double measured = level + draws.normal() * half / kWidthOf95;
  outcome.speedup = std::exp(measured);
  outcome.speedup_bounds = {std::exp(measured - half), std::exp(measured + half)};
  outcome.hidden_speedup = std::exp(level - hidden_loss + draws.normal() * half / kWidthOf95);
  outcome.speed_of_light =
      std::min(1.0, landscape_.task.speed_of_light * std::exp(level - highest_));
}

void World::race(const std::string& rival, Draws& draws, search::Outcome& outcome) const {
  const auto level_of_rival = levels_.find(rival);
  if (level_of_rival == levels_.end()) {
    return;
  }
  const double half = landscape_.measurement.race;
  const double ratio =
      levels_.at(outcome.kernel) - level_of_rival->second + draws.normal() * half / kWidthOf99;
  const double hidden = ratio - hidden_losses_.at(outcome.kernel) + hidden_losses_.at(rival);
  outcome.race = {rival, ratio > half, std::exp(hidden)};
}

search::Tried World::try_choices(const search::Evaluate& heat) const {
  const Kernel& kernel = kernels_.at(heat.candidate);
  search::Tried tried{heat.candidate, {}, 0};
  const double noise = landscape_.measurement.race / kWidthOf99 *
                       std::sqrt(kTurnsOfARace / static_cast<double>(heat.turns));
  for (const ParameterChoice& choice : heat.choices) {
    const std::size_t index = index_of(kernel, choice);
    Draws draws(seed_, fmt::format("trial {} {} {}", heat.candidate, index, heat.turns));
    const double gain = level_at(kernel, index) - level_at(kernel, 0);
    tried.trials.push_back(
        {choice, Verdict::NotJudged, "", {std::exp(gain + draws.normal() * noise)}});
    tried.device_seconds += draws.lognormal(landscape_.device.heat, landscape_.device.spread) *
                            static_cast<double>(heat.turns);
  }
  return tried;
}

} // namespace winnow::lab
