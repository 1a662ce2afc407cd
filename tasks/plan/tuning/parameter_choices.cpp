#include "tasks/plan/tuning/parameter_choices.h"

#include "base/digest.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace winnow::tasks {
namespace {

// One unit of work: the evaluation of a short condition.
constexpr std::size_t kWorkInOrder = 100'000;
constexpr std::size_t kWorkForSample = 100'000;
constexpr std::size_t kWorkForAttempt = 2'000;
constexpr std::size_t kWorkOfException = 20;

using Indices = std::vector<std::size_t>; ///< of the chosen values, one for each parameter

/// A `where`, with the indices of its parameters.
class Condition {
public:
  Condition(const Plan& plan, const Expression& expression) : plan_(plan), expression_(expression) {
    for (const std::string& name : expression.names()) {
      const auto found =
          std::find_if(plan.parameters.begin(), plan.parameters.end(),
                       [&](const Parameter& parameter) { return parameter.name == name; });
      parameters_.push_back(static_cast<std::size_t>(found - plan.parameters.begin()));
    }
  }

  const std::vector<std::size_t>& parameters() const { return parameters_; }
  std::size_t work() const { return 1 + expression_.text().size() * parameters_.size() / 64; }

  /// Throws ExpressionError.
  bool holds(const Indices& indices) {
    for (const std::size_t i : parameters_) {
      scope_.set(plan_.parameters[i].name, plan_.parameters[i].values[indices[i]]);
    }
    return expression_.evaluate(scope_) != 0;
  }

private:
  const Plan& plan_;
  const Expression& expression_;
  std::vector<std::size_t> parameters_;
  Scope scope_;
};

/// The order in which a walk binds a parameter, and tries its values.
struct Turn {
  std::size_t parameter = 0;
  std::vector<std::size_t> values;
};

/// Finds the allowed choices one after the other, in the order of the turns.
class Walk {
public:
  /// There is at least one turn.
  Walk(std::vector<Condition>& conditions, std::vector<Turn> turns, std::size_t budget)
      : budget_(budget), indices_(turns.size()), depth_of_(turns.size()) {
    for (Turn& turn : turns) {
      depth_of_[turn.parameter] = levels_.size();
      levels_.emplace_back().turn = std::move(turn);
    }
    std::size_t deepest = 0;
    for (Condition& condition : conditions) {
      const std::size_t depth = depth_of(condition);
      levels_[depth].checks.push_back({&condition, deepest > depth});
      deepest = std::max(deepest, depth);
    }
  }

  /// nullptr: there are no more, or the budget is spent. Throws ExpressionError.
  const Indices* next() {
    if (is_over() || (depth_ == levels_.size() && !go_back())) {
      return nullptr;
    }
    while (depth_ < levels_.size()) {
      Level& level = levels_[depth_];
      if (level.tried == level.turn.values.size()) {
        if (!go_back()) {
          return nullptr;
        }
        continue;
      }
      indices_[level.turn.parameter] = level.turn.values[level.tried++];
      if (!is_allowed(level)) {
        if (is_over()) {
          return nullptr;
        }
      } else if (++depth_ < levels_.size()) {
        levels_[depth_].begin();
      }
    }
    note_choice();
    return &indices_;
  }

  bool is_complete() const { return complete_; } ///< next() found all choices
  std::size_t work() const { return work_; }

private:
  struct Check {
    Condition* condition;
    bool guarded; ///< an earlier `where` is checked at a deeper level, and may forbid the choice
  };
  struct Level {
    Turn turn;
    std::vector<Check> checks; ///< those whose last parameter this is
    std::size_t tried = 0;
    bool found = false;             ///< an allowed choice with the values of the levels above
    std::set<std::size_t> culprits; ///< levels above that failed checks depend on
    std::optional<ExpressionError> error;

    void begin() {
      tried = 0;
      found = false;
      culprits.clear();
    }
  };

  std::size_t depth_of(const Condition& condition) const {
    std::size_t depth = 0;
    for (const std::size_t parameter : condition.parameters()) {
      depth = std::max(depth, depth_of_[parameter]);
    }
    return depth;
  }

  /// Only asked after a choice or a failed check, so an allowed default may cost more.
  bool is_over() const { return complete_ || work_ > budget_; }

  bool is_allowed(Level& level) {
    ++work_;
    level.error.reset();
    for (const Check& check : level.checks) {
      if (!holds(level, check)) {
        for (const std::size_t parameter : check.condition->parameters()) {
          if (depth_of_[parameter] < depth_) {
            level.culprits.insert(depth_of_[parameter]);
          }
        }
        return false;
      }
    }
    return true;
  }

  bool holds(Level& level, const Check& check) {
    work_ += check.condition->work();
    try {
      return check.condition->holds(indices_);
    } catch (const ExpressionError& error) {
      if (!check.guarded) {
        throw;
      }
      work_ += kWorkOfException;
      level.error = error;
      return true;
    }
  }

  void note_choice() {
    for (const Level& level : levels_) {
      if (level.error) {
        throw ExpressionError(*level.error);
      }
    }
    for (std::size_t i = levels_.size(); i-- > 0 && !levels_[i].found;) {
      levels_[i].found = true;
    }
  }

  /// Every value of the level was tried (or the last choice is complete). False: nothing is left.
  bool go_back() {
    if (depth_ == levels_.size()) {
      --depth_;
      return true;
    }
    const Level& level = levels_[depth_];
    complete_ = depth_ == 0 || (!level.found && level.culprits.empty());
    if (complete_) {
      return false;
    }
    const std::size_t target = level.found ? depth_ - 1 : *level.culprits.rbegin();
    if (!level.found) {
      work_ += level.culprits.size();
      levels_[target].culprits.insert(level.culprits.begin(), std::prev(level.culprits.end()));
    }
    depth_ = target;
    return true;
  }

  std::size_t budget_;
  Indices indices_;
  std::vector<std::size_t> depth_of_; ///< by parameter
  std::vector<Level> levels_;
  std::size_t depth_ = 0;
  std::size_t work_ = 0;
  bool complete_ = false;
};

std::vector<Turn> turns_in_order(const Plan& plan) {
  std::vector<Turn> turns;
  for (const Parameter& parameter : plan.parameters) {
    Turn& turn = turns.emplace_back();
    turn.parameter = turns.size() - 1;
    turn.values.resize(parameter.values.size());
    std::iota(turn.values.begin(), turn.values.end(), 0);
  }
  return turns;
}

std::uint64_t seed_of(const Plan& plan) {
  std::string text;
  for (const Parameter& parameter : plan.parameters) {
    text += parameter.name;
    for (const std::int64_t value : parameter.values) {
      text += " " + std::to_string(value);
    }
    text += "\n";
  }
  for (const PlanExpression& condition : plan.where) {
    text += condition.expression.text() + "\n";
  }
  return derived_seed(0, text);
}

/// Draws choices. Each draw binds the parameters in a random order, and tries the values that are
/// least used so far first.
class Sampler {
public:
  Sampler(const Plan& plan, std::vector<Condition>& conditions)
      : plan_(plan), conditions_(conditions), random_(seed_of(plan)) {
    for (const Parameter& parameter : plan.parameters) {
      used_.emplace_back(parameter.values.size(), 0);
    }
  }

  /// False: the choice is in the sample already.
  bool add(const Indices& choice) {
    if (!sample_.insert(choice).second) {
      return false;
    }
    for (std::size_t i = 0; i < choice.size(); ++i) {
      ++used_[i][choice[i]];
    }
    return true;
  }

  /// nullopt: there is no other choice, or none was found in time. Throws ExpressionError.
  std::optional<Indices> draw() {
    while (work_ < kWorkForSample) {
      Walk walk(conditions_, turns(), kWorkForAttempt);
      const Indices* choice = walk.next();
      while (choice != nullptr && !add(*choice)) {
        choice = walk.next();
      }
      work_ += walk.work();
      if (choice != nullptr) {
        return *choice;
      }
      if (walk.is_complete()) {
        break;
      }
    }
    return std::nullopt;
  }

private:
  std::vector<Turn> turns() {
    std::vector<Turn> turns = turns_in_order(plan_);
    for (Turn& turn : turns) {
      sort_by(turn.values, [&](std::size_t value) { return used_[turn.parameter][value]; });
    }
    sort_by(turns, [](const Turn&) { return 0; });
    return turns;
  }

  /// Items with equal keys get a random order.
  template <class Item, class Key> void sort_by(std::vector<Item>& items, Key key) {
    using Keys = std::pair<int, std::uint64_t>;
    std::vector<std::pair<Keys, std::size_t>> order;
    for (std::size_t i = 0; i < items.size(); ++i) {
      order.push_back({{key(items[i]), random_()}, i});
    }
    std::sort(order.begin(), order.end());
    std::vector<Item> sorted;
    for (const auto& [keys, i] : order) {
      sorted.push_back(std::move(items[i]));
    }
    items = std::move(sorted);
  }

  const Plan& plan_;
  std::vector<Condition>& conditions_;
  std::mt19937_64 random_;
  std::vector<std::vector<int>> used_; ///< by parameter and value
  std::set<Indices> sample_;
  std::size_t work_ = 0;
};

/// The conditions that depend on parameters; nullopt if another one is false. Throws
/// ExpressionError.
std::optional<std::vector<Condition>> conditions_of(const Plan& plan) {
  std::vector<Condition> conditions;
  for (const PlanExpression& condition : plan.where) {
    if (!condition.expression.names().empty()) {
      conditions.emplace_back(plan, condition.expression);
    } else if (condition.expression.evaluate(Scope()) == 0) {
      return std::nullopt;
    }
  }
  return conditions;
}

std::vector<Indices> sample(const Plan& plan, std::vector<Condition>& conditions,
                            const std::vector<Indices>& found, std::size_t limit) {
  Sampler sampler(plan, conditions);
  std::vector<Indices> result;
  if (!found.empty()) {
    result.push_back(found.front());
    sampler.add(found.front());
  }
  while (result.size() < limit) {
    std::optional<Indices> choice = sampler.draw();
    if (!choice) {
      break;
    }
    result.push_back(std::move(*choice));
  }
  for (const Indices& choice : found) {
    if (result.size() < limit && sampler.add(choice)) {
      result.push_back(choice);
    }
  }
  return result;
}

std::vector<Indices> choose(const Plan& plan, std::size_t limit) {
  auto conditions = conditions_of(plan);
  std::vector<Indices> found;
  if (!conditions || limit == 0) {
    return found;
  }
  if (plan.parameters.empty()) {
    return {Indices{}};
  }
  Walk walk(*conditions, turns_in_order(plan), kWorkInOrder);
  const Indices* choice = walk.next();
  if (limit == 1 && choice != nullptr) {
    return {*choice};
  }
  for (; choice != nullptr && found.size() < limit; choice = walk.next()) {
    found.push_back(*choice);
  }
  return walk.is_complete() ? found : sample(plan, *conditions, found, limit);
}

} // namespace

std::vector<ParameterChoice> parameter_choices(const Plan& plan, std::size_t limit) {
  std::vector<ParameterChoice> choices;
  for (const Indices& indices : choose(plan, limit)) {
    ParameterChoice& choice = choices.emplace_back();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      choice[plan.parameters[i].name] = plan.parameters[i].values[indices[i]];
    }
  }
  return choices;
}

std::optional<ParameterChoice> choice_with(const Plan& plan, const ParameterChoice& values) {
  Plan restricted = plan;
  std::size_t known = 0;
  for (Parameter& parameter : restricted.parameters) {
    if (const auto wanted = values.find(parameter.name); wanted != values.end()) {
      const auto& listed = parameter.values;
      ++known;
      parameter.values = std::count(listed.begin(), listed.end(), wanted->second) == 0
                             ? std::vector<std::int64_t>{}
                             : std::vector{wanted->second};
    }
  }
  const auto choices = parameter_choices(restricted, 1);
  return known < values.size() || choices.empty() ? std::nullopt : std::optional(choices.front());
}

} // namespace winnow::tasks
