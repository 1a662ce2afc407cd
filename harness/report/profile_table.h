#pragma once

#include "evaluators/evaluation/profile.h"
#include "tasks/result/evaluation.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// One kernel at one shape: all that a column of the table is made from.
struct ProfileColumn {
  std::string heading;
  tasks::CaseResult timed;
  double warm_median_ns = 0;                        ///< 0: not timed with warm caches
  std::optional<evaluators::ProfiledShape> profile; ///< nullopt: it was not profiled
  std::optional<double> spill_bytes; ///< a thread, stores and loads; nullopt: not known
};

/// One line of the table for one column. A value has a unit as in profiling::CounterName and can
/// be compared; a text alone cannot. With neither, nothing is known.
struct Metric {
  std::string group;
  std::string title;
  std::optional<double> value;
  std::string unit;
  std::string text;
};

/// Times, speed of light, limiter, launch, energy, conditions, then the counters named by `keys`.
/// For the same keys every column has the same lines in the same order.
std::vector<Metric> metrics_of(const ProfileColumn& column, const std::vector<std::string>& keys);

/// Every counter of any column: those with a name in the order of counter_names(), then others.
std::vector<std::string> counter_keys(const std::vector<ProfileColumn>& columns);
/// "DRAM bytes read"; the key itself, in words, where there is no such name.
std::string counter_title(const std::string& key);

/// Lines under headings of groups, a column a ProfileColumn; lines that no column knows anything of
/// are left out. `compared`: there are two columns, and a third says how the first differs from the
/// second, in percent, or in points where the values are percentages.
std::string profile_table(const std::string& corner, const std::vector<ProfileColumn>& columns,
                          bool compared);

} // namespace winnow::harness
