#pragma once

#include <string>

namespace winnow {

/// A number with `decimals` decimals. A smaller one has two significant digits, so that nothing but
/// 0 reads as 0: "1.98", "0.0042", "<0.000001". docs/numbers.md has the rules; core.js of the page
/// for browsers writes numbers by the same ones, and tests/numbers.tsv compares the two.
std::string number_text(double value, int decimals = 2);

/// One significant digit, of a figure that is not sure: "~4", "~0.07".
std::string about_text(double value);

/// At least four digits, also of values that are rounded up to a power of ten.
std::string four_digits(double value);

struct TimeUnit {
  double nanoseconds;
  const char* name;
};
/// The largest unit of which the time has one.
TimeUnit time_unit(double nanoseconds);
/// "45.23 us", with four digits; empty for 0 and below.
std::string time_text(double nanoseconds);

/// Of a share: "81 %", "3.4 %".
std::string percent_text(double share);

/// "$0.0840"
std::string dollars_text(double dollars);

/// "2026-11-20T09:44:26.123Z" as "2026-11-20 09:44".
std::string minute_text(std::string time);

} // namespace winnow
