#pragma once

#include "lab/statistics.h"

#include <string>
#include <vector>

namespace winnow::lab {

/// A statistic as recorded, and as the fitted landscape gives it.
struct FitRow {
  std::string name;
  double recorded = 0;
  double error = 0; ///< standard error of `recorded`
  double simulated = 0;
};

struct Fit {
  Landscape landscape;
  std::vector<FitRow> rows;
  std::size_t searches = 0, calls = 0; ///< recorded; 0: published without logs
  double mean_error = 0;               ///< root mean square of the differences / errors
  std::vector<std::string> notes;      ///< what the records do not tell
};

struct FitPlan {
  std::string name;              ///< of the fitted landscape
  std::string source;            ///< the records, as sources of the landscape name them
  std::size_t tasks = 200;       ///< simulated tasks for each comparison with the records
  std::size_t evaluations = 150; ///< comparisons at most
};

/// Fits a landscape to recorded searches. Shares of verdicts, tuning, hidden shapes, measurement
/// and device come straight from the records. Ceilings and gains are those whose simulated
/// searches, by the records' own policy, have the recorded statistics. Sections that the records
/// say nothing of keep the numbers and the sources of `base`. Throws UsageError if no search has a
/// judged reply.
Fit fit(const std::vector<RecordedSearch>& searches, const Landscape& base, const FitPlan& plan);

/// Fits the ceilings and gains of `base` to published statistics of one-plus-one searches that had
/// no tuner.
Fit fit(const PublishedStatistics& published, const Landscape& base, const FitPlan& plan);

/// The statistics that searches on this landscape have, by name; `policy` and `settings` are those
/// of the searches.
std::vector<Statistic> simulated_statistics(const Landscape& landscape,
                                            const search::Policy& policy,
                                            const search::Settings& settings,
                                            std::size_t calls_per_search, std::size_t tasks);

} // namespace winnow::lab
