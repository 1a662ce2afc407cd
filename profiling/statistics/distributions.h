#pragma once

namespace winnow::profiling {

/// I_x(a, b), the regularized incomplete beta function, to about 1e-12. Evaluated by its continued
/// fraction (DLMF 8.17.22). An `x` outside [0, 1] is moved to the nearer end. `a` and `b` are
/// positive.
double regularized_beta(double x, double a, double b);

/// P(T > t) for Student's distribution with `degrees` degrees of freedom: positive, not necessarily
/// whole.
double student_upper_tail(double t, double degrees);

/// The value that Student's t exceeds with probability `upper_tail`, which is above 0 and at most a
/// half.
double student_quantile(double upper_tail, double degrees);

/// P(Z > z) of the standard normal distribution.
double normal_upper_tail(double z);

} // namespace winnow::profiling
