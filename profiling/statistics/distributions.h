#pragma once

namespace winnow::profiling {

/// I_x(a, b), the regularized incomplete beta function, by its continued fraction (DLMF 8.17.22),
/// to about 1e-12; `x` outside [0, 1] counts as the nearer end. `a` and `b` are positive.
double regularized_beta(double x, double a, double b);

/// P(T > t) of Student's distribution; `degrees` is positive and need not be whole.
double student_upper_tail(double t, double degrees);

/// P(Z > z) of the standard normal distribution.
double normal_upper_tail(double z);

} // namespace winnow::profiling
