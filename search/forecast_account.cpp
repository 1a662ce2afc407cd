#include "search/forecast_account.h"

#include <fmt/format.h>

namespace winnow::search {

void ForecastAccount::add(const ForecastScore& one) {
  ++measured;
  score += one.score;
  model_free += one.model_free;
}

std::string ForecastAccount::why_off() const {
  if (measured < kForecastTrial || score < model_free) {
    return {};
  }
  const auto count = static_cast<double>(measured);
  return fmt::format("the mean score of {} measured forecasts is {:.4f}; without a model it is "
                     "{:.4f}, and 0 is best",
                     measured, score / count, model_free / count);
}

} // namespace winnow::search
