#include "search/speed_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace winnow::search {
namespace {

// Two choices whose values of a parameter are neighbours are as alike as this.
constexpr double kNeighbours = 0.7;
// Noise of a short timing, relative to the spread of the speeds.
constexpr double kNoise = 0.05;

using Matrix = std::vector<std::vector<double>>;

/// Solves a x = b for a symmetric, positive definite `a`, by Cholesky's decomposition.
std::vector<double> solved(Matrix a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < j; ++k) {
        a[i][j] -= a[i][k] * a[j][k];
      }
      a[i][j] = i == j ? std::sqrt(a[i][i]) : a[i][j] / a[j][j];
    }
    for (std::size_t k = 0; k < i; ++k) {
      b[i] -= a[i][k] * b[k];
    }
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k][i] * b[k];
    }
    b[i] /= a[i][i];
  }
  return b;
}

/// The logarithms of the speeds around their mean.
std::vector<double> log_speeds(const std::vector<Trial>& trials,
                               const std::vector<std::size_t>& tried) {
  double slowest = 1;
  for (const std::size_t one : tried) {
    const double speed = overall(trials[one]);
    slowest = speed > 0 ? std::min(slowest, speed) : slowest;
  }
  std::vector<double> logs;
  for (const std::size_t one : tried) {
    const double speed = overall(trials[one]);
    logs.push_back(std::log(speed > 0 ? speed : slowest));
  }
  const double mean =
      std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  for (double& log : logs) {
    log -= mean;
  }
  return logs;
}

} // namespace

ChoiceSpace::ChoiceSpace(const std::vector<Trial>& trials) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const Trial& trial : trials) {
    for (const auto& [name, value] : trial.choice) {
      values[name].insert(value);
    }
  }
  std::size_t most = 1;
  for (const auto& [name, all] : values) {
    most = std::max(most, all.size());
  }
  for (std::size_t distance = 0; distance < most; ++distance) {
    likeness_by_distance_.push_back(std::pow(kNeighbours, static_cast<double>(distance)));
  }
  for (const Trial& trial : trials) {
    std::vector<std::size_t>& point = points_.emplace_back();
    for (const auto& [name, value] : trial.choice) {
      const std::set<std::int64_t>& all = values[name];
      if (all.size() > 1) {
        point.push_back(static_cast<std::size_t>(std::distance(all.begin(), all.find(value))));
      }
    }
  }
}

double ChoiceSpace::likeness(std::size_t a, std::size_t b) const {
  double sum = 0, product = 1;
  const std::size_t dimensions = points_[a].size();
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t x = points_[a][i], y = points_[b][i];
    const double like = likeness_by_distance_[x > y ? x - y : y - x];
    sum += like;
    product *= like;
  }
  return dimensions == 0 ? 1 : (sum / static_cast<double>(dimensions) + product) / 2;
}

std::vector<std::size_t> ChoiceSpace::spread(std::size_t count) const {
  std::vector<std::size_t> chosen;
  std::vector<double> nearness(size()); // to the default and to those chosen
  for (std::size_t last = 0; chosen.size() < std::min(count, size() - 1);) {
    std::size_t next = 0;
    for (std::size_t i = 1; i < size(); ++i) {
      nearness[i] += i == last ? std::numeric_limits<double>::infinity() : likeness(i, last);
      next = next == 0 || nearness[i] < nearness[next] ? i : next;
    }
    chosen.push_back(next);
    last = next;
  }
  return chosen;
}

std::vector<double> forecast_speeds(const ChoiceSpace& space, const std::vector<Trial>& trials,
                                    const std::vector<std::size_t>& tried) {
  Matrix covariance(tried.size(), std::vector<double>(tried.size()));
  for (std::size_t i = 0; i < tried.size(); ++i) {
    for (std::size_t j = 0; j < tried.size(); ++j) {
      covariance[i][j] = space.likeness(tried[i], tried[j]) + (i == j ? kNoise : 0);
    }
  }
  const std::vector<double> weights = solved(std::move(covariance), log_speeds(trials, tried));
  std::vector<double> speeds(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    for (std::size_t j = 0; j < tried.size(); ++j) {
      speeds[i] += weights[j] * space.likeness(i, tried[j]);
    }
  }
  return speeds;
}

} // namespace winnow::search
