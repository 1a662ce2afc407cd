#include "harness/report/profile_table.h"

#include "base/text.h"
#include "harness/report/timed_shapes.h"
#include "profiling/counters/counter_names.h"
#include "profiling/roofline/counter_text.h"
#include "store/text_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using evaluators::LaunchFacts;
using evaluators::ProfiledShape;

constexpr const char* kTime = "Time";
constexpr const char* kLimits = "Limits";
constexpr const char* kLaunch = "Launch";
constexpr const char* kEnergy = "Energy";
constexpr const char* kConditions = "Conditions";
constexpr double kPercent = 100;
constexpr double kLargestPlainNumber = 1e9;

/// The group of a counter, chosen by the prefix of its key.
struct Group {
  std::string_view prefix;
  const char* title;
};
constexpr std::array kGroups{
    Group{"dram_", "DRAM"},
    Group{"l2_", "L2"},
    Group{"l1_", "L1, shared and local memory"},
    Group{"load_", "L1, shared and local memory"},
    Group{"store_", "L1, shared and local memory"},
    Group{"shared_", "L1, shared and local memory"},
    Group{"local_", "L1, shared and local memory"},
    Group{"sm_throughput", "Pipes"},
    Group{"tensor_", "Pipes"},
    Group{"fma_", "Pipes"},
    Group{"fp16_", "Pipes"},
    Group{"fp64_", "Pipes"},
    Group{"alu_", "Pipes"},
    Group{"warps_", "Warps"},
    Group{"issue_", "Warps"},
    Group{"threads_per_", "Warps"},
    Group{"branch_", "Warps"},
    Group{"stall_", "Stalls (warps waiting for each instruction issued)"},
    Group{"cpu_", "Processor"},
};

const char* group_of(std::string_view key) {
  for (const Group& group : kGroups) {
    if (key.starts_with(group.prefix)) {
      return group.title;
    }
  }
  return "Work"; // cycles of a GPU; barriers, launches and similar counters of the CPU device
}

/// The unit of a counter; for counters that counter_names() does not list, derived from the key.
std::string unit_of(std::string_view key) {
  const profiling::CounterName* name = profiling::find_counter(key);
  if (name != nullptr) {
    return std::string(name->unit);
  }
  if (key.find("bytes") != std::string_view::npos) {
    return "B";
  }
  return key.ends_with("_pct") ? "%" : "1";
}

std::string value_text(double value, const std::string& unit) {
  if (unit == "x") {
    return ratio_text(value);
  }
  if (unit == "time") {
    return time_text(value);
  }
  if (unit == "B" || unit == "ns" || unit == "%") {
    return profiling::counter_text(value, unit);
  }
  const bool plain = value == std::floor(value) && std::abs(value) < kLargestPlainNumber;
  const std::string number =
      plain ? fmt::format("{:.0f}", value) : profiling::counter_text(value, unit);
  return unit == "1" ? number : number + " " + unit;
}

std::string energy_text(double joules) {
  return joules >= 1      ? fmt::format("{:.3g} J", joules)
         : joules >= 1e-3 ? fmt::format("{:.3g} mJ", joules * 1e3)
                          : fmt::format("{:.3g} uJ", joules * 1e6);
}

std::optional<double> known(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

class MetricList {
public:
  void text(const char* group, const char* title, std::string text) {
    metrics_.push_back({group, title, std::nullopt, "", std::move(text)});
  }
  void value(const char* group, std::string title, std::optional<double> value, std::string unit) {
    std::string text = value ? value_text(*value, unit) : "";
    metrics_.push_back({group, std::move(title), value, std::move(unit), std::move(text)});
  }
  /// Adds a value that is shown as `text`.
  void value(const char* group, const char* title, std::optional<double> value, std::string unit,
             std::string text) {
    metrics_.push_back({group, title, value, std::move(unit), value ? std::move(text) : ""});
  }
  std::vector<Metric> take() { return std::move(metrics_); }

private:
  std::vector<Metric> metrics_;
};

void add_times(const ProfileColumn& column, MetricList& list) {
  const tasks::CaseResult& timed = column.timed;
  list.value(kTime, "median, cold caches", known(timed.median_ns), "time");
  list.text(kTime, "  95 % interval", time_interval_text(timed.median_bounds_ns));
  list.text(kTime, "  launches timed", fmt::format("{}", timed.samples_ns.size()));
  list.value(kTime, "median, warm caches", known(column.warm_median_ns), "time");
  list.value(kTime, "baseline's median, cold", known(timed.baseline_median_ns), "time");
  list.value(kTime, "speedup over the baseline", known(timed.speedup), "x");
  list.text(kTime, "  95 % interval", ratio_interval_text(timed.speedup_bounds));
}

void add_limits(const ProfiledShape* profile, MetricList& list) {
  const bool fast = profile != nullptr && profile->shape.speed_of_light.has_value();
  const profiling::SpeedOfLight speed =
      fast ? *profile->shape.speed_of_light : profiling::SpeedOfLight{};
  list.value(kLimits, "speed of light",
             fast ? std::optional(kPercent * speed.fraction) : std::nullopt, "%",
             fmt::format("{} of {}", profiling::counter_text(kPercent * speed.fraction, "%"),
                         speed.bound));
  list.value(kLimits, "  least time", known(speed.least_ns), "time");
  list.value(kLimits, "  bytes that count for it", known(speed.floor_bytes), "B");
  list.value(kLimits, "a plain copy of its bytes", speed.copy_ns, "time");
  const bool longer = speed.rate_ns.value_or(0) > speed.copy_ns.value_or(0);
  list.value(kLimits, "its operations at the measured rate", longer ? speed.rate_ns : std::nullopt,
             "time");
  list.value(kLimits, "an empty launch", speed.launch_ns, "time");
  const bool found = profile != nullptr && !profile->shape.findings.empty();
  list.text(kLimits, "limiter",
            found ? std::string(to_string(profile->shape.findings.front().limiter)) : "");
}

void add_launch(const ProfileColumn& column, MetricList& list) {
  const LaunchFacts launch = column.profile ? column.profile->launch : LaunchFacts{};
  const std::optional<double> occupancy =
      launch.occupancy ? std::optional(kPercent * *launch.occupancy) : std::nullopt;
  const auto launches = static_cast<double>(launch.launches);
  list.text(kLaunch, "kernel", launch.kernel);
  list.value(kLaunch, "launches in a run", known(launches), "1");
  list.value(kLaunch, "blocks", known(launch.blocks), "1");
  list.value(kLaunch, "threads a block", known(launch.threads_per_block), "1");
  list.value(
      kLaunch, "registers a thread",
      launch.registers ? std::optional(static_cast<double>(*launch.registers)) : std::nullopt, "1");
  list.value(kLaunch, "spills a thread", column.spill_bytes, "B");
  list.value(kLaunch, "shared memory a block", launch.shared_bytes, "B");
  list.value(kLaunch, "blocks resident on an SM, in theory", launch.blocks_per_multiprocessor, "1");
  list.value(kLaunch, "occupancy, in theory", occupancy, "%");
}

void add_energy(const ProfiledShape* profile, MetricList& list) {
  const profiling::Energy energy = profile != nullptr ? profile->energy : profiling::Energy{};
  const std::optional<double> joules = energy.joules_per_launch;
  const std::optional<double> power = energy.average_power_w;
  list.value(kEnergy, "energy a run", joules, "J", energy_text(joules.value_or(0)));
  list.value(kEnergy, "average power", power, "W", fmt::format("{:.1f} W", power.value_or(0)));
}

void add_conditions(const tasks::CaseResult& timed, MetricList& list) {
  const tasks::TimingConditions& conditions = timed.conditions;
  const auto in = [](double value, const char* unit) {
    return value > 0 ? fmt::format("{:.0f} {}", value, unit) : "";
  };
  list.text(kConditions, "SM clock", in(conditions.median_clock_mhz, "MHz"));
  list.text(kConditions, "memory clock", in(conditions.memory_clock_mhz, "MHz"));
  list.text(kConditions, "temperature", in(conditions.temperature_c, "C"));
  list.text(kConditions, "power while timed", in(conditions.power_w, "W"));
  list.text(kConditions, "throttled by",
            fmt::format("{}", fmt::join(conditions.throttle_reasons, ", ")));
  list.text(kConditions, "warm-up launches", fmt::format("{}", conditions.warm_ups));
  list.text(kConditions, "launches left out, GPU clock too low",
            conditions.median_clock_mhz > 0 ? fmt::format("{}", conditions.discarded) : "");
  list.text(kConditions, "stopped by", conditions.stopped_by);
  list.text(kConditions, "outliers", fmt::format("{}", conditions.outliers));
  list.text(kConditions, "drift",
            conditions.drift != 0 ? fmt::format("{:+.1f} %", kPercent * conditions.drift) : "");
  list.text(kConditions, "times in two groups", conditions.bimodal ? "yes" : "");
}

void add_counters(const ProfiledShape* profile, const std::vector<std::string>& keys,
                  MetricList& list) {
  for (const std::string& key : keys) {
    list.value(group_of(key), counter_title(key),
               profile != nullptr ? profile->shape.counters.value(key) : std::nullopt,
               unit_of(key));
  }
}

bool all_zero(const std::vector<std::vector<Metric>>& columns, std::size_t line) {
  return std::all_of(columns.begin(), columns.end(), [line](const std::vector<Metric>& column) {
    return column[line].value == 0.0;
  });
}

std::string change_text(const Metric& now, const Metric& before) {
  if (!now.value || !before.value) {
    return {};
  }
  if (now.unit == "%") {
    return fmt::format("{:+.1f} points", *now.value - *before.value);
  }
  if (*before.value == 0) {
    return *now.value == 0 ? "+0.0 %" : "";
  }
  return fmt::format("{:+.1f} %", kPercent * (*now.value / *before.value - 1));
}

} // namespace

std::vector<Metric> metrics_of(const ProfileColumn& column, const std::vector<std::string>& keys) {
  const ProfiledShape* profile = column.profile ? &*column.profile : nullptr;
  MetricList list;
  add_times(column, list);
  add_limits(profile, list);
  add_launch(column, list);
  add_energy(profile, list);
  add_conditions(column.timed, list);
  add_counters(profile, keys, list);
  return list.take();
}

std::string counter_title(const std::string& key) {
  if (const profiling::CounterName* name = profiling::find_counter(key)) {
    return std::string(name->title);
  }
  std::string title = key;
  std::replace(title.begin(), title.end(), '_', ' ');
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') {
    title[0] = static_cast<char>(title[0] - 'a' + 'A'); // as in the other titles
  }
  return title;
}

std::vector<std::string> counter_keys(const std::vector<ProfileColumn>& columns) {
  std::set<std::string> found;
  for (const ProfileColumn& column : columns) {
    if (column.profile) {
      for (const auto& [key, counter] : column.profile->shape.counters.counters) {
        found.insert(key);
      }
    }
  }
  std::vector<std::string> keys;
  for (const profiling::CounterName& name : profiling::counter_names()) {
    if (found.erase(std::string(name.key)) > 0) {
      keys.emplace_back(name.key);
    }
  }
  keys.insert(keys.end(), found.begin(), found.end());
  std::stable_sort(keys.begin(), keys.end(), [](const std::string& left, const std::string& right) {
    const auto place = [](const std::string& key) {
      const std::string_view group = group_of(key);
      return std::find_if(kGroups.begin(), kGroups.end(),
                          [group](const Group& one) { return one.title == group; });
    };
    return place(left) < place(right);
  });
  return keys;
}

std::string profile_table(const std::string& corner, const std::vector<ProfileColumn>& columns,
                          bool compared) {
  store::TextTable table;
  table.splits = true;
  table.columns.push_back({corner});
  std::vector<std::vector<Metric>> metrics;
  const std::vector<std::string> keys = counter_keys(columns);
  for (const ProfileColumn& column : columns) {
    table.columns.push_back({column.heading, true});
    metrics.push_back(metrics_of(column, keys));
  }
  if (compared) {
    table.columns.push_back({"change", true});
  }
  std::string group;
  std::vector<std::string> zeros;
  for (std::size_t line = 0; !metrics.empty() && line < metrics.front().size(); ++line) {
    const Metric& first = metrics.front()[line];
    if (line + keys.size() >= metrics.front().size() && all_zero(metrics, line)) {
      zeros.push_back(first.title);
      continue;
    }
    std::vector<std::string> row{"  " + first.title};
    for (const std::vector<Metric>& column : metrics) {
      row.push_back(column[line].text);
    }
    if (std::all_of(row.begin() + 1, row.end(),
                    [](const std::string& cell) { return cell.empty(); })) {
      continue;
    }
    if (compared) {
      row.push_back(change_text(first, metrics.at(1)[line]));
    }
    if (first.group != group) {
      group = first.group;
      table.rows.emplace_back(table.columns.size()).front() = group;
    }
    table.rows.push_back(std::move(row));
  }
  return to_aligned_text(table, 0) +
         (zeros.empty() ? "" : "counted, and 0: " + join(zeros, "; ") + "\n");
}

} // namespace winnow::harness
