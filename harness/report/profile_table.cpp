#include "harness/report/profile_table.h"

#include "base/text.h"
#include "harness/report/json_table.h"
#include "harness/report/timed_shapes.h"
#include "profiling/counters/counter_names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kCounters = "profile/counters/counters";
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

/// A value with a unit as in profiling::CounterName; or "x": a ratio; "time": nanoseconds;
/// "share": 0 to 1, shown in percent; "count": 0 is unknown.
std::string value_text(double value, const std::string& unit) {
  if (unit == "x") {
    return ratio_text(value);
  }
  if (unit == "time") {
    return time_text(value);
  }
  if (unit == "share") {
    return profiling::counter_text(kPercent * value, "%");
  }
  if (unit == "count") {
    return value > 0 ? value_text(value, "1") : "";
  }
  if (unit == "B" || unit == "ns" || unit == "%") {
    return profiling::counter_text(value, unit);
  }
  const bool plain = value == std::floor(value) && std::abs(value) < kLargestPlainNumber;
  const std::string number =
      plain ? fmt::format("{:.0f}", value) : profiling::counter_text(value, unit);
  return unit == "1" ? number : number + " " + unit;
}

/// Makes a cell from a column of the table.
using Cell = std::function<std::string(const json&)>;

/// A line of the table.
struct Metric {
  std::string title;
  std::string path; ///< of a number that columns can be compared by; empty: there is none
  std::string unit; ///< as for value_text()
  Cell cell = {};   ///< empty: the number as value_text()
};

struct MetricGroup {
  std::string title;
  std::vector<Metric> metrics;
};

std::string cell_of(const Metric& metric, const json& column) {
  if (metric.cell) {
    return metric.cell(column);
  }
  const json& value = value_at(column, metric.path);
  return value.is_null() ? "" : value_text(number_at(value, ""), metric.unit);
}

/// The text at a path.
Cell text(const char* path) {
  return [path](const json& column) { return text_at(column, path); };
}

/// The number at a path in a format; nothing for 0 and for an unknown number.
Cell known(const char* path, const char* format) {
  return [path, format](const json& column) {
    const double value = number_at(column, path);
    return value != 0 ? fmt::format(fmt::runtime(format), value) : "";
  };
}

/// An interval of times or of ratios.
Cell interval(const char* name, const char* unit, std::string (*text)(const tasks::Bounds&)) {
  return [=](const json& column) { return text(bounds_at(column, name, unit)); };
}

std::string speed_text(const json& column) {
  const json& speed = value_at(column, "profile/speed_of_light");
  return speed.is_null()
             ? ""
             : fmt::format("{} of {}", value_text(number_at(speed, "fraction"), "share"),
                           text_at(speed, "bound"));
}

std::string floor_text(const json& column) {
  const double bytes = number_at(column, "profile/speed_of_light/floor_bytes");
  return bytes > 0 ? value_text(bytes, "B") : "";
}

/// Only if the operations take longer than a copy.
std::string operations_text(const json& column) {
  const double time = number_at(column, "profile/speed_of_light/rate_ns");
  return time > number_at(column, "profile/speed_of_light/copy_ns") ? time_text(time) : "";
}

std::string energy_text(const json& column) {
  const json& value = value_at(column, "profile/energy/joules_per_launch");
  const double joules = number_at(value, "");
  return value.is_null()  ? ""
         : joules >= 1    ? fmt::format("{:.3g} J", joules)
         : joules >= 1e-3 ? fmt::format("{:.3g} mJ", joules * 1e3)
                          : fmt::format("{:.3g} uJ", joules * 1e6);
}

std::string throttled_text(const json& column) {
  const auto reasons = value_at(column, "conditions/throttle_reasons");
  return join(reasons.get<std::vector<std::string>>(), ", ");
}

std::string discarded_text(const json& column) {
  const bool has_clock = number_at(column, "conditions/median_clock_mhz") > 0;
  return has_clock ? text_at(column, "conditions/discarded") : "";
}

std::string drift_text(const json& column) {
  const double drift = number_at(column, "conditions/drift");
  return drift != 0 ? fmt::format("{:+.1f} %", kPercent * drift) : "";
}

std::string bimodal_text(const json& column) {
  return value_at(column, "conditions/bimodal") == true ? "yes" : "";
}

/// All lines except those of counters.
std::vector<MetricGroup> facts(bool eager) {
  const std::string speed = "profile/speed_of_light/";
  const std::string launch = "profile/launch/";
  return {{"Time",
           {{"median, cold caches", "median_ns", "time"},
            {"  95 % interval", "", "", interval("median", "_ns", time_interval_text)},
            {"  launches timed", "", "", text("launches_timed")},
            {"median, warm caches", "warm_median_ns", "time"},
            {eager ? "PyTorch eager's median" : "baseline's median, cold", "baseline_median_ns",
             "time"},
            {eager ? "speedup over PyTorch eager" : "speedup over the baseline", "speedup", "x"},
            {"  95 % interval", "", "", interval("speedup", "", ratio_interval_text)}}},
          {"Limits",
           {{"speed of light", speed + "fraction", "share", speed_text},
            {"  least time", speed + "least_ns", "time"},
            {"  bytes in the least time", speed + "floor_bytes", "B", floor_text},
            {"a plain copy of the task's bytes", speed + "copy_ns", "time"},
            {"the operations at the measured rate", speed + "rate_ns", "time", operations_text},
            {"an empty launch", speed + "launch_ns", "time"},
            {"limiter", "", "", text("profile/limiters/0/limiter")}}},
          {"Launch",
           {{"kernel", "", "", text("profile/launch/kernel")},
            {"launches in a run", launch + "launches", "count"},
            {"blocks", launch + "blocks", "count"},
            {"threads a block", launch + "threads_per_block", "count"},
            {"registers a thread", launch + "registers", "1"},
            {"spills a thread", "spill_bytes", "B"},
            {"shared memory a block", launch + "shared_bytes", "B"},
            {"blocks resident on an SM, in theory", launch + "blocks_per_multiprocessor", "1"},
            {"occupancy, in theory", launch + "occupancy", "share"}}},
          {"Energy",
           {{"energy a run", "profile/energy/joules_per_launch", "J", energy_text},
            {"average power", "profile/energy/average_power_w", "W",
             known("profile/energy/average_power_w", "{:.1f} W")}}},
          {"Conditions",
           {{"SM clock", "", "", known("conditions/median_clock_mhz", "{:.0f} MHz")},
            {"memory clock", "", "", known("conditions/memory_clock_mhz", "{:.0f} MHz")},
            {"temperature", "", "", known("conditions/temperature_c", "{:.0f} C")},
            {"power while timed", "", "", known("conditions/power_w", "{:.0f} W")},
            {"throttled by", "", "", throttled_text},
            {"warm-up launches", "", "", text("conditions/warm_ups")},
            {"launches left out, GPU clock too low", "", "", discarded_text},
            {"stopped by", "", "", text("conditions/stopped_by")},
            {"outliers", "", "", text("conditions/outliers")},
            {"drift", "", "", drift_text},
            {"times in two groups", "", "", bimodal_text}}}};
}

/// Where the group of a counter stands in the table.
std::ptrdiff_t place_of(const std::string& key) {
  const std::string_view group = group_of(key);
  return std::find_if(kGroups.begin(), kGroups.end(),
                      [group](const Group& one) { return one.title == group; }) -
         kGroups.begin();
}

/// Every counter of any column: by group, first the counters with a name, in the order of
/// counter_names(), then the others.
std::vector<std::string> counter_keys(const std::vector<ProfileColumn>& columns) {
  std::set<std::string> found;
  for (const auto& [heading, column] : columns) {
    for (const auto& [key, counter] : value_at(column, kCounters).items()) {
      found.insert(key);
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
    return place_of(left) < place_of(right);
  });
  return keys;
}

std::string change_text(const Metric& metric, const json& now, const json& before) {
  const json& new_value = value_at(now, metric.path);
  const json& old_value = value_at(before, metric.path);
  if (metric.path.empty() || new_value.is_null() || old_value.is_null()) {
    return {};
  }
  const double from = number_at(old_value, "");
  const double to = number_at(new_value, "");
  if (metric.unit == "%" || metric.unit == "share") {
    return fmt::format("{:+.1f} points", (to - from) * (metric.unit == "%" ? 1 : kPercent));
  }
  if (from == 0) {
    return to == 0 ? "+0.0 %" : "";
  }
  return fmt::format("{:+.1f} %", kPercent * (to / from - 1));
}

/// Adds a line, and the heading of its group before the first line of the group.
void add_line(const std::string& group, const Metric& metric,
              const std::vector<ProfileColumn>& columns, bool compared, std::string& last_group,
              TextTable& table) {
  std::vector<std::string> row{"  " + metric.title};
  bool is_empty = true;
  for (const auto& [heading, column] : columns) {
    row.push_back(cell_of(metric, column));
    is_empty = is_empty && row.back().empty();
  }
  if (is_empty) {
    return;
  }
  if (compared) {
    const bool both = !row[1].empty() && !row[2].empty();
    row.push_back(both ? change_text(metric, columns[0].second, columns[1].second) : "");
  }
  if (group != last_group) {
    table.rows.emplace_back(table.columns.size()).front() = last_group = group;
  }
  table.rows.push_back(std::move(row));
}

} // namespace

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

std::string profile_table(const std::string& corner, const std::vector<ProfileColumn>& columns,
                          bool compared) {
  TextTable table;
  table.splits = true;
  table.columns.push_back({corner});
  for (const auto& [heading, column] : columns) {
    table.columns.push_back({heading, true});
  }
  if (compared) {
    table.columns.push_back({"change", true});
  }
  std::string last_group;
  const bool eager = !columns.empty() && versus_at(columns.front().second) == tasks::kVersusEager;
  for (const MetricGroup& group : facts(eager)) {
    for (const Metric& metric : group.metrics) {
      add_line(group.title, metric, columns, compared, last_group, table);
    }
  }
  std::vector<std::string> zeros;
  for (const std::string& key : counter_keys(columns)) {
    const Metric metric{counter_title(key), kCounters + ("/" + key) + "/value", unit_of(key)};
    const bool is_zero = std::all_of(columns.begin(), columns.end(), [&](const auto& one) {
      return value_at(one.second, metric.path) == 0.0;
    });
    if (is_zero) {
      zeros.push_back(metric.title);
    } else {
      add_line(group_of(key), metric, columns, compared, last_group, table);
    }
  }
  return to_aligned_text(table, 0) +
         (zeros.empty() ? "" : "counters that are 0: " + join(zeros, "; ") + "\n");
}

} // namespace winnow::harness
