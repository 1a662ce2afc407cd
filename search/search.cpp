#include "search/search.h"

namespace winnow::search {

Earnings& Earnings::operator+=(const Earnings& other) {
  op = other.op;
  model = other.model;
  calls += other.calls;
  correct += other.correct;
  dollars += other.dollars;
  device_seconds += other.device_seconds;
  log_gain += other.log_gain;
  return *this;
}

} // namespace winnow::search
