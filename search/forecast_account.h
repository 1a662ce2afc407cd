#pragma once

#include "search/speed_bins.h"

#include <cstdint>
#include <string>

namespace winnow::search {

/// A candidate whose chance of becoming faster than the best kernel is less than this is left out.
/// In published logs of metal-sci 15 % of all calls gained: this is a third of that.
constexpr double kImprobable = 0.05;
/// Of the candidates that would be left out this share is measured all the same, drawn at random.
constexpr double kForecastAuditShare = 0.125;
/// Before so many forecasts were measured the account says little.
constexpr std::int64_t kForecastTrial = 8;

/// A forecast beside what was measured.
struct ForecastScore {
  std::string key;         ///< of the forecaster's call
  double ratio = 0;        ///< measured: the speed as a multiple of the parent's
  double score = 0;        ///< ranked_probability_score() of the forecaster; 0 is best
  double model_free = 0;   ///< the same of SpeedNeighbours, with what was measured before the call
  double chance = 0;       ///< that the forecaster gave it of beating the best kernel
  bool is_audit = false;   ///< it would have been left out
  bool beats_best = false; ///< it is faster than the kernel that was the best when it was measured
};

/// The forecasts of one search that were measured.
struct ForecastAccount {
  std::int64_t measured = 0;
  double score = 0, model_free = 0; ///< sums

  void add(const ForecastScore& one);
  /// Why forecasts are not worth their price: kForecastTrial of them were measured, and their mean
  /// score is no better than the one that costs nothing. Empty: they are, or the trial is not over.
  std::string why_off() const;
};

} // namespace winnow::search
