#include "bench/tuning_peers.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace winnow::bench {
namespace {

double uniform(Random& random) {
  return std::uniform_real_distribution<double>()(random);
}

std::size_t one_of(const std::vector<std::size_t>& choices, const Space& space, Random& random) {
  return choices.empty() ? space.any(random) : choices[random() % choices.size()];
}

std::vector<std::size_t> shuffled(std::size_t size, Random& random) {
  std::vector<std::size_t> all(size);
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

} // namespace

Space::Space(const std::vector<tasks::ParameterChoice>& choices) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const tasks::ParameterChoice& choice : choices) {
    for (const auto& [name, value] : choice) {
      values[name].insert(value);
    }
  }
  for (const tasks::ParameterChoice& choice : choices) {
    Point& point = points_.emplace_back();
    for (const auto& [name, value] : choice) {
      const std::set<std::int64_t>& all = values[name];
      point.push_back(static_cast<std::size_t>(std::distance(all.begin(), all.find(value))));
    }
    numbers_[point] = points_.size() - 1;
  }
  neighbours_.resize(size());
  adjacent_.resize(size());
  for (std::size_t a = 0; a < size(); ++a) {
    for (std::size_t b = 0; b < size(); ++b) {
      std::size_t differing = 0, widest = 0;
      for (std::size_t i = 0; i < dimensions(); ++i) {
        const std::size_t low = std::min(points_[a][i], points_[b][i]);
        const std::size_t step = std::max(points_[a][i], points_[b][i]) - low;
        differing += step > 0 ? 1 : 0;
        widest = std::max(widest, step);
      }
      if (differing == 1) {
        neighbours_[a].push_back(b);
      }
      if (widest == 1) {
        adjacent_[a].push_back(b);
      }
    }
  }
}

std::size_t Space::crossed(std::size_t a, std::size_t b, Random& random) const {
  Point child = points_[a];
  for (std::size_t i = 0; i < child.size(); ++i) {
    child[i] = random() % 2 == 0 ? child[i] : points_[b][i];
  }
  const auto found = numbers_.find(child);
  return found == numbers_.end() ? a : found->second;
}

double Objective::operator()(std::size_t choice) {
  ++asked_;
  if (const auto known = known_.find(choice); known != known_.end()) {
    return known->second;
  }
  if (is_spent()) {
    return std::numeric_limits<double>::infinity();
  }
  const Measured measured = measure_(choice);
  seconds_ += measured.seconds;
  return known_[choice] = measured.time;
}

/// Also when a strategy has long asked for nothing new.
bool Objective::is_spent() const {
  constexpr std::size_t kMostQuestions = 100; // for each choice
  return seconds_ >= budget_ || known_.size() == choices_ || asked_ > kMostQuestions * choices_;
}

std::size_t Objective::best() const {
  return std::min_element(known_.begin(), known_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void random_search(const Space& space, Objective& time, Random& random) {
  for (const std::size_t choice : shuffled(space.size(), random)) {
    time(choice);
  }
}

void genetic_algorithm(const Space& space, Objective& time, Random& random) {
  constexpr std::size_t kMostMembers = 30, kFewestMembers = 4, kGenerations = 4;
  constexpr double kMutation = 1.0 / 20;
  std::vector<std::size_t> members = shuffled(space.size(), random);
  members.resize(std::min({kMostMembers, std::max(kFewestMembers, time.affordable() / kGenerations),
                           std::max<std::size_t>(2, space.size() / 2)}));
  const auto breeder = [&] { // beta(1, 2.5) by its inverse: the first members most often
    const double rank = 1 - std::pow(uniform(random), 1 / 2.5);
    return members[static_cast<std::size_t>(rank * static_cast<double>(members.size()))];
  };
  while (!time.is_spent()) {
    std::sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(time(a), a) < std::pair(time(b), b);
    });
    std::vector<std::size_t> children;
    for (std::size_t i = 0; i < 10 * members.size() && children.size() < members.size(); ++i) {
      std::size_t child = space.crossed(breeder(), breeder(), random);
      child = uniform(random) < kMutation ? one_of(space.neighbours(child), space, random) : child;
      if (std::find(children.begin(), children.end(), child) == children.end()) {
        children.push_back(child);
      }
    }
    while (children.size() < members.size()) { // the population has become alike
      children.push_back(space.any(random));
    }
    members = std::move(children);
  }
}

void simulated_annealing(const Space& space, Objective& time, Random& random) {
  constexpr double kFirst = 1, kLast = 0.001, kFarMoves = 0.2;
  constexpr int kStuck = 100;
  std::size_t here = space.any(random);
  time(here);
  int stuck = 0;
  while (!time.is_spent()) {
    const std::size_t known = time.measured();
    const double share = static_cast<double>(known) / static_cast<double>(time.affordable());
    const double temperature = kFirst * std::pow(kLast / kFirst, std::min(1.0, share));
    const bool is_far = uniform(random) < kFarMoves;
    const std::size_t next =
        one_of(is_far ? space.neighbours(here) : space.adjacent(here), space, random);
    const double before = time(here), after = time(next);
    if (after < before || std::isinf(before) ||
        uniform(random) < std::exp((before - after) / before / temperature)) {
      here = next;
    }
    stuck = time.measured() == known ? stuck + 1 : 0;
    if (stuck > kStuck) {
      here = space.any(random);
      stuck = 0;
    }
  }
}

void iterated_local_search(const Space& space, Objective& time, Random& random) {
  constexpr double kJump = 0.3;      // share of the parameters
  constexpr int kMostAtOnePlace = 5; // jumps without gain before a new start
  const auto climb = [&](std::size_t from) {
    for (bool has_moved = true; has_moved && !time.is_spent();) {
      has_moved = false;
      std::vector<std::size_t> around = space.neighbours(from);
      std::shuffle(around.begin(), around.end(), random);
      for (const std::size_t next : around) {
        if (time(next) < time(from)) {
          from = next;
          has_moved = true;
          break;
        }
      }
    }
    return from;
  };
  const auto jump =
      static_cast<int>(std::max(1.0, kJump * static_cast<double>(space.dimensions())));
  while (!time.is_spent()) {
    std::size_t top = climb(space.any(random));
    for (int idle = 0; idle < kMostAtOnePlace && !time.is_spent();) {
      std::size_t from = top;
      for (int i = 0; i < jump; ++i) {
        from = one_of(space.neighbours(from), space, random);
      }
      const std::size_t reached = climb(from);
      idle = time(reached) < time(top) ? 0 : idle + 1;
      top = time(reached) < time(top) ? reached : top;
    }
  }
}

} // namespace winnow::bench
