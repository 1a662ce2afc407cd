#pragma once

#include "search/trial.h"

#include <cstddef>
#include <vector>

namespace winnow::search {

/// Choices of parameters by the ranks of their values: 0 for a parameter's smallest value.
class ChoiceSpace {
public:
  explicit ChoiceSpace(const std::vector<Trial>& trials);

  std::size_t size() const { return points_.size(); }
  /// 1: the same choice. Half of it counts each parameter alone, half of it all of them together.
  double likeness(std::size_t a, std::size_t b) const;
  /// `count` choices as unlike the first one and each other as can be.
  std::vector<std::size_t> spread(std::size_t count) const;

private:
  std::vector<std::vector<std::size_t>> points_;
  std::vector<double> likeness_by_distance_; ///< of two values of a parameter
};

/// Predicts the speed of choices that were not tried from those that were: a Gaussian process with
/// the likeness of the choices as its covariance (kriging). A choice that failed counts as slow as
/// the slowest that ran. By choice, in units without meaning: only their order counts.
std::vector<double> forecast_speeds(const ChoiceSpace& space, const std::vector<Trial>& trials,
                                    const std::vector<std::size_t>& tried);

} // namespace winnow::search
