#pragma once

#include "evaluators/evaluation/profile.h"
#include "tasks/result/evaluation.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// The data of one column of the table: one kernel at one shape.
struct ProfileColumn {
  std::string heading;
  tasks::CaseResult timed;
  double warm_median_ns = 0;                        ///< 0: not timed with warm caches
  std::optional<evaluators::ProfiledShape> profile; ///< nullopt: not profiled
  std::optional<double> spill_bytes; ///< bytes per thread, stores and loads; nullopt: unknown
};

/// One cell. Either `value` with `unit` as in profiling::CounterName (comparable), or `text` (shown
/// only), or neither (not measured).
struct Metric {
  std::string group;
  std::string title;
  std::optional<double> value;
  std::string unit;
  std::string text;
};

/// Times, speed of light, limiter, launch, energy, conditions, then the counters named in `keys`.
/// With the same keys all columns have the same lines in the same order.
std::vector<Metric> metrics_of(const ProfileColumn& column, const std::vector<std::string>& keys);

/// Every counter of any column: first the counters with a name, in the order of counter_names(),
/// then the others.
std::vector<std::string> counter_keys(const std::vector<ProfileColumn>& columns);
/// "DRAM bytes read"; a counter without a name is shown by its key, in words.
std::string counter_title(const std::string& key);

/// The table: lines under group headings, one table column for each ProfileColumn. Lines without a
/// value in any column are left out. `compared`: there are two columns, and a third shows the
/// difference of the first from the second, in percent, or in points if the values are percentages.
std::string profile_table(const std::string& corner, const std::vector<ProfileColumn>& columns,
                          bool compared);

} // namespace winnow::harness
