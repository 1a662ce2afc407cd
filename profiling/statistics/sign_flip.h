#pragma once

#include <cstdint>
#include <span>

namespace winnow::profiling {

/// The p-value, for both sides, that paired differences have the mean 0: Fisher's randomisation
/// test
/// ("The Design of Experiments", 1935). If the pairs do not differ, each difference could as well
/// have the other sign. So the p-value is the share of all choices of signs whose mean is as far
/// from 0 as the mean of the differences. Of differences that are 0, 1 or -1 this is the exact test
/// of McNemar. Above 12 differences, 2,000 random choices stand for all (Phipson and Smyth 2010).
/// The same differences and the same seed give the same value. Differences that are not finite do
/// not count. 1 without differences. Five differences or fewer never have a p-value below 0.05.
double sign_flip_p_value(std::span<const double> differences, std::uint64_t seed = 0x77696e6e6f77);

} // namespace winnow::profiling
