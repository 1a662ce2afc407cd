#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

namespace winnow::profiling {

/// Random numbers for tests, the same on every machine.
class Dice {
public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }
  /// A random time around `ns`. The standard deviation of its logarithm is `sigma`.
  double lognormal(double ns, double sigma) { return ns * std::exp(sigma * normal()); }

private:
  std::mt19937_64 random_;
};

inline std::vector<double> series(std::size_t count, const std::function<double()>& draw) {
  std::vector<double> samples(count);
  for (double& sample : samples) {
    sample = draw();
  }
  return samples;
}

} // namespace winnow::profiling
