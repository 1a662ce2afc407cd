#pragma once

#include "base/digest.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace winnow {

/// Random numbers that follow from a seed and a name: a search that is read from its log draws the
/// same numbers again, and two simulations that do the same thing have the same luck. The generator
/// is splitmix64 (Steele, Lea and Flood 2014). The distributions are written here, because those of
/// the standard library differ between compilers.
class Draws {
public:
  Draws(std::uint64_t seed, std::string_view name) : state_(derived_seed(seed, name)) {}

  /// At least 0 and less than 1.
  double uniform() {
    constexpr double kScale = 0x1p-53;
    return static_cast<double>(bits() >> 11U) * kScale;
  }
  /// One of so many things. `count`: at least 1.
  std::size_t index(std::size_t count) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(count));
  }
  /// Mean 0, standard deviation 1 (Box and Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  double exponential(double mean) { return -mean * std::log(1 - uniform()); }
  /// A positive number with this mean and this ratio of standard deviation to mean.
  double lognormal(double mean, double spread) {
    const double variance = std::log(1 + spread * spread);
    return mean * std::exp(std::sqrt(variance) * normal() - variance / 2);
  }
  /// Between 0 and 1, with this mean (0 < mean < 1): a power of a uniform number.
  double share(double mean) { return std::pow(uniform(), (1 - mean) / mean); }

private:
  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  std::uint64_t state_;
};

} // namespace winnow
