#include "search/speed_neighbours.h"

#include <cmath>

namespace winnow::search {
namespace {

/// Facts that either side lacks, and facts that never vary, say nothing.
double squared_distance(const Facts& a, const Facts& b, const Facts& variances) {
  double sum = 0;
  double count = 0;
  for (const auto& [name, variance] : variances) {
    const auto other = b.find(name);
    if (variance > 0 && other != b.end()) {
      const double difference = a.at(name) - other->second;
      sum += difference * difference / variance;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

} // namespace

void SpeedNeighbours::add(const Facts& facts, std::size_t bin) {
  measured_.push_back({facts, bin});
}

/// Of the facts that `of` has, over the measured kernels.
Facts SpeedNeighbours::variances(const Facts& of) const {
  Facts all;
  for (const auto& [name, value] : of) {
    double sum = 0, squares = 0, count = 0;
    for (const Measured& one : measured_) {
      if (const auto found = one.facts.find(name); found != one.facts.end()) {
        sum += found->second;
        squares += found->second * found->second;
        ++count;
      }
    }
    if (count > 1) {
      const double variance = (squares - sum * sum / count) / (count - 1);
      all[name] = variance > 1e-12 * squares ? variance : 0; // the rest is rounding
    }
  }
  return all;
}

SpeedChances SpeedNeighbours::chances(const Facts& facts) const {
  const double bins = kSpeedBins;
  SpeedChances overall{};
  overall.fill(1 / bins);
  for (const Measured& one : measured_) {
    overall.at(one.bin) += 1;
  }
  const double all = static_cast<double>(measured_.size()) + 1;
  const Facts spread = variances(facts);
  SpeedChances chances{};
  double weights = 1;
  for (std::size_t bin = 0; bin < kSpeedBins; ++bin) {
    chances.at(bin) = overall.at(bin) / all;
  }
  for (const Measured& one : measured_) {
    const double weight = std::exp(-squared_distance(facts, one.facts, spread) / 2);
    chances.at(one.bin) += weight;
    weights += weight;
  }
  for (double& chance : chances) {
    chance /= weights;
  }
  return chances;
}

} // namespace winnow::search
