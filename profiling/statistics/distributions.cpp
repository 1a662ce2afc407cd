#include "profiling/statistics/distributions.h"

#include <cmath>
#include <numbers>

namespace winnow::profiling {
namespace {

double log_gamma(double x) {
  int sign = 0; // plain std::lgamma writes a global variable
  return lgamma_r(x, &sign);
}

// The continued fraction of I_x(a, b) by Lentz's method. Converges fast for x < (a + 1) / (a + b +
// 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kPrecise = 1e-13;
  constexpr int kMaxTerms = 500;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int term = 1; term <= kMaxTerms; ++term) {
    const double m = term;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= c * d;
    if (std::abs(c * d - 1) < kPrecise) {
      break;
    }
  }
  return result;
}

} // namespace

double regularized_beta(double x, double a, double b) {
  if (!(x > 0)) {
    return 0;
  }
  if (x >= 1) {
    return 1;
  }
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(1 - x, b, a) / b;
}

double student_upper_tail(double t, double degrees) {
  const double both = regularized_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
  return t > 0 ? both / 2 : 1 - both / 2;
}

double student_quantile(double upper_tail, double degrees) {
  double low = 0, high = 1;
  while (student_upper_tail(high, degrees) > upper_tail) {
    high *= 2;
  }
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_upper_tail(middle, degrees) > upper_tail ? low : high) = middle;
  }
  return high;
}

double normal_upper_tail(double z) {
  return std::erfc(z / std::numbers::sqrt2) / 2;
}

} // namespace winnow::profiling
