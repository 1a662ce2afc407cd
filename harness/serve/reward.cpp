#include "harness/serve/reward.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr double kMostFactor = 1e6;
constexpr std::size_t kMostSteps = 100;
constexpr std::size_t kMostNameBytes = 64;

double log_speed(const RewardFacts& facts) {
  return facts.correct && facts.speedup_low > 1 ? std::log2(facts.speedup_low) : 0;
}

/// A factor of a formula, and the amount that it is multiplied with.
struct Term {
  const char* name;
  double RewardFormula::*factor;
  double (*amount)(const RewardFacts&);
};

constexpr Term kTerms[] = {
    {"parsed", &RewardFormula::parsed, [](const RewardFacts& f) { return f.parsed ? 1.0 : 0; }},
    {"compiled", &RewardFormula::compiled,
     [](const RewardFacts& f) { return f.compiled ? 1.0 : 0; }},
    {"correct", &RewardFormula::correct, [](const RewardFacts& f) { return f.correct ? 1.0 : 0; }},
    {"progress", &RewardFormula::progress, [](const RewardFacts& f) { return f.progress; }},
    {"speed", &RewardFormula::speed,
     [](const RewardFacts& f) { return f.correct ? f.speedup : 0; }},
    {"log_speed", &RewardFormula::log_speed, log_speed},
    {"not_compiled", &RewardFormula::not_compiled,
     [](const RewardFacts& f) { return f.compiled ? 0 : 1.0; }},
    {"not_correct", &RewardFormula::not_correct,
     [](const RewardFacts& f) { return f.compiled && !f.correct ? 1.0 : 0; }}};

double value_of_step(const RewardFormula& formula, const RewardFacts& facts) {
  double value = 0;
  for (const RewardFormula::Step& step : formula.steps) {
    value = facts.correct && facts.speedup >= step.speedup ? step.value : value;
  }
  return value;
}

RewardFormula named(const char* name, json::initializer_list_t members) {
  RewardFormula formula;
  formula.name = name;
  const json object = json::object(members);
  for (const auto& [member, value] : object.items()) {
    set_member(formula, member, value);
  }
  return formula;
}

const std::vector<RewardFormula>& built_in() {
  static const std::vector<RewardFormula> formulas{
      // Kevin-32B: 0.3 * correct + time of the baseline / time of the kernel
      named("kevin", {{"correct", 0.3}, {"speed", 1}, {"most", 10}}),
      // the reward client of KernelGYM
      named("tiers",
            {{"not_compiled", -0.5},
             {"not_correct", -0.3},
             {"steps", {{0, -0.1}, {1, 0.2}, {1.2, 0.4}, {1.5, 0.6}, {2, 0.8}, {3, 1.0}}}}),
      named("log", {{"log_speed", 1}}),
      named("stages", {{"parsed", 0.05}, {"compiled", 0.1}, {"progress", 0.3}, {"log_speed", 1}})};
  return formulas;
}

bool is_built_in(const RewardFormula& formula) {
  return std::find(built_in().begin(), built_in().end(), formula) != built_in().end();
}

double number_of(const json& value) {
  if (!value.is_number() || !(std::abs(value.get<double>()) <= kMostFactor)) {
    throw UsageError(fmt::format("a number from -{0:g} to {0:g}", kMostFactor));
  }
  return value.get<double>();
}

std::vector<RewardFormula::Step> steps_of(const json& value) {
  const UsageError wrong("at most 100 pairs [SPEEDUP, VALUE] with rising speedups, for instance "
                         "[[1.0, 0.2], [2.0, 0.8]]");
  if (!value.is_array() || value.empty() || value.size() > kMostSteps) {
    throw wrong;
  }
  std::vector<RewardFormula::Step> steps;
  for (const json& pair : value) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) {
      throw wrong;
    }
    const RewardFormula::Step step{number_of(pair[0]), number_of(pair[1])};
    if (step.speedup < 0 || (!steps.empty() && step.speedup <= steps.back().speedup)) {
      throw wrong;
    }
    steps.push_back(step);
  }
  return steps;
}

} // namespace

Reward reward_of(const RewardFormula& formula, const RewardFacts& facts) {
  Reward reward;
  const auto add = [&reward](const char* name, double value) {
    reward.terms.emplace_back(name, value);
    reward.value += value;
  };
  for (const Term& term : kTerms) {
    if (const double factor = formula.*term.factor; factor != 0) {
      const double amount = term.amount(facts);
      add(term.name, amount == 0 ? 0 : factor * amount); // no "-0.0"
    }
  }
  if (!formula.steps.empty()) {
    add("steps", value_of_step(formula, facts));
  }
  reward.value = std::max(reward.value, formula.least.value_or(reward.value));
  reward.value = std::min(reward.value, formula.most.value_or(reward.value));
  return reward;
}

bool set_member(RewardFormula& formula, const std::string& name, const json& value) {
  const auto* term = std::find_if(std::begin(kTerms), std::end(kTerms),
                                  [&](const Term& one) { return one.name == name; });
  if (term != std::end(kTerms)) {
    formula.*term->factor = number_of(value);
  } else if (name == "steps") {
    formula.steps = steps_of(value);
  } else if (name == "least") {
    formula.least = number_of(value);
  } else if (name == "most") {
    formula.most = number_of(value);
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> reward_member_names() {
  std::vector<std::string> names;
  for (const Term& term : kTerms) {
    names.emplace_back(term.name);
  }
  names.insert(names.end(), {"steps", "least", "most"});
  return names;
}

Rewards::Rewards() {
  for (const RewardFormula& formula : built_in()) {
    formulas_[formula.name] = formula;
  }
}

void Rewards::add(RewardFormula formula) {
  const std::string& name = formula.name;
  const bool is_name = !name.empty() && name.size() <= kMostNameBytes &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return std::isalnum(c) != 0 || c == '-' || c == '_';
                       });
  if (!is_name) {
    throw UsageError("'" + shortened(to_valid_utf8(name), 40) + "' cannot be the name of a reward",
                     "use up to 64 letters, digits, '-' and '_'");
  }
  if (formulas_.contains(name)) {
    throw UsageError("there is a reward '" + name + "' already", "give yours another name");
  }
  formulas_[name] = std::move(formula);
}

std::vector<std::string> Rewards::names() const {
  std::vector<std::string> names;
  for (const auto& [name, formula] : formulas_) {
    names.push_back(name);
  }
  return names;
}

const RewardFormula& Rewards::find(const std::string& name) const {
  const auto found = formulas_.find(name);
  if (found == formulas_.end()) {
    const std::string shown = shortened(to_valid_utf8(name), 40);
    throw UsageError("there is no reward '" + shown + "'" + suggestion(shown, names()));
  }
  return found->second;
}

std::string stored_reward(const RewardFormula& formula) {
  if (is_built_in(formula)) {
    return formula.name;
  }
  json members = {{"name", formula.name}};
  for (const Term& term : kTerms) {
    if (formula.*term.factor != 0) {
      members[term.name] = formula.*term.factor;
    }
  }
  for (const RewardFormula::Step& step : formula.steps) {
    members["steps"].push_back({step.speedup, step.value});
  }
  if (formula.least) {
    members["least"] = *formula.least;
  }
  if (formula.most) {
    members["most"] = *formula.most;
  }
  return json_line(members);
}

RewardFormula reward_from_stored(const std::string& text) {
  try {
    if (!text.starts_with('{')) {
      return Rewards().find(text);
    }
    json members = json::parse(text);
    RewardFormula formula;
    formula.name = members.at("name").get<std::string>();
    members.erase("name");
    for (const auto& [name, value] : members.items()) {
      if (!set_member(formula, name, value)) {
        throw Error("a formula has no member '" + name + "'");
      }
    }
    return formula;
  } catch (const std::exception& error) {
    throw Error("the store has a reward that this version cannot read: " +
                shortened(to_valid_utf8(text), 80) + ": " + error.what());
  }
}

} // namespace winnow::harness
