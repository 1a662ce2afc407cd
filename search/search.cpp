#include "search/search.h"

#include "base/error.h"
#include "base/text.h"
#include "search/archive_search.h"
#include "search/lineage_search.h"

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

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names{"one-plus-one", "best-of-n", "archive"};
  return names;
}

std::unique_ptr<Search> make_search(std::string_view strategy, Settings settings) {
  if (strategy == "archive") {
    return std::make_unique<ArchiveSearch>(std::move(settings));
  }
  if (strategy == "best-of-n") {
    settings.lineages = settings.proposals; // a call each
  } else if (strategy != "one-plus-one") {
    throw UsageError("unknown strategy '" + std::string(strategy) + "'" +
                     suggestion(strategy, strategy_names()));
  }
  return std::make_unique<LineageSearch>(std::move(settings));
}

} // namespace winnow::search
