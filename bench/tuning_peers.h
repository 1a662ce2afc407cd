#pragma once

#include "tasks/plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace winnow::bench {

using Random = std::mt19937_64;

/// The choices of a family as a space to search.
class Space {
public:
  explicit Space(const std::vector<tasks::ParameterChoice>& choices);

  std::size_t size() const { return points_.size(); }
  std::size_t dimensions() const { return points_.front().size(); }
  std::size_t any(Random& random) const { return random() % size(); }
  /// Choices that differ in one parameter.
  const std::vector<std::size_t>& neighbours(std::size_t choice) const {
    return neighbours_[choice];
  }
  /// Choices whose parameters all have the same value or the next one.
  const std::vector<std::size_t>& adjacent(std::size_t choice) const { return adjacent_[choice]; }
  /// Takes each parameter from one of two choices. The choice may not exist: then it is `a`.
  std::size_t crossed(std::size_t a, std::size_t b, Random& random) const;

private:
  using Point = std::vector<std::size_t>; ///< indices of sorted values, one for each parameter
  std::vector<Point> points_;
  std::map<Point, std::size_t> numbers_;
  std::vector<std::vector<std::size_t>> neighbours_, adjacent_;
};

/// What a tuner may ask: the time of a choice relative to the default's. Each choice is measured
/// once, as long as there is device time.
class Objective {
public:
  struct Measured {
    double time = std::numeric_limits<double>::infinity(); ///< infinity: it does not run
    double seconds = 0;                                    ///< of the device
  };
  /// `affordable`: the number of measurements for which `seconds` lasts, about.
  Objective(std::function<Measured(std::size_t)> measure, std::size_t choices, double seconds,
            std::size_t affordable)
      : measure_(std::move(measure)), choices_(choices), budget_(seconds), affordable_(affordable) {
  }

  double operator()(std::size_t choice);
  bool is_spent() const;
  std::size_t affordable() const { return affordable_; }
  std::size_t measured() const { return known_.size(); }
  double seconds() const { return seconds_; }
  std::size_t best() const; ///< Call after a measurement.

private:
  std::function<Measured(std::size_t)> measure_;
  std::size_t choices_;
  double budget_;
  std::size_t affordable_;
  std::map<std::size_t, double> known_;
  double seconds_ = 0;
  std::size_t asked_ = 0;
};

// The strategies of Kernel Tuner that Schoonhoven, van Werkhoven and Batenburg found among the best
// ("Benchmarking optimization algorithms for auto-tuning GPU kernels", 2022), with its defaults.
// Each goes on until the objective is spent.

void random_search(const Space& space, Objective& time, Random& random);
/// A population breeds by uniform crossover; the rank decides who breeds.
void genetic_algorithm(const Space& space, Objective& time, Random& random);
/// The temperature falls geometrically as the budget is spent.
void simulated_annealing(const Space& space, Objective& time, Random& random);
/// Moves to the first neighbour that is faster. At a local optimum it jumps, near at first.
void iterated_local_search(const Space& space, Objective& time, Random& random);

} // namespace winnow::bench
