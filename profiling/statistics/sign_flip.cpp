#include "profiling/statistics/sign_flip.h"

#include "profiling/statistics/order.h"

#include <cmath>
#include <random>

namespace winnow::profiling {
namespace {

constexpr std::size_t kExact = 12;  ///< so many differences have 4096 choices of signs
constexpr int kChoices = 2'000;     ///< of more differences
constexpr double kRounding = 1e-12; ///< of a sum, relative
constexpr std::size_t kBits = 64;

/// Counts choices of signs that bring the sum as far from 0 as it is.
class FlippedSums {
public:
  explicit FlippedSums(const std::vector<double>& values) : values_(values) {
    double sum = 0, size = 0;
    for (const double value : values) {
      sum += value;
      size += std::abs(value);
    }
    least_ = std::abs(sum) - kRounding * size;
  }

  /// `bits()` gives 64 signs.
  template <typename Bits> bool is_far(Bits&& bits) const {
    double sum = 0;
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      signs = i % kBits == 0 ? bits() : signs >> 1U;
      sum += (signs & 1U) == 0 ? values_[i] : -values_[i];
    }
    return std::abs(sum) >= least_;
  }

private:
  const std::vector<double>& values_;
  double least_ = 0;
};

} // namespace

double sign_flip_p_value(std::span<const double> differences, std::uint64_t seed) {
  const std::vector<double> values = finite(differences);
  const FlippedSums sums(values);
  int far = 0;
  if (values.size() <= kExact) {
    const std::uint64_t choices = std::uint64_t{1} << values.size();
    for (std::uint64_t choice = 0; choice < choices; ++choice) {
      far += sums.is_far([choice] { return choice; }) ? 1 : 0;
    }
    return static_cast<double>(far) / static_cast<double>(choices);
  }
  std::mt19937_64 random(seed);
  for (int i = 0; i < kChoices; ++i) {
    far += sums.is_far([&] { return random(); }) ? 1 : 0;
  }
  return (far + 1.0) / (kChoices + 1.0); // the signs that the differences have are a choice, too
}

} // namespace winnow::profiling
