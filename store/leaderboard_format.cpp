#include "store/leaderboard_format.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "store/export.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

constexpr std::size_t kShortDigest = 8;
constexpr std::size_t kMaxStandingBytes = 240;
constexpr std::ptrdiff_t kColumnsBeforeBounds = 2;
constexpr const char* kSpeedupVersus = "baseline.cu";
constexpr const char* kNobodyYet = "No candidate is correct and timed yet.\n";

/// Four significant digits: "412.3 us".
std::string duration_text(double ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  for (const Unit unit : {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}}) {
    if (ns >= unit.ns) {
      return fmt::format("{:.4g} {}", ns / unit.ns, unit.name);
    }
  }
  return ns > 0 ? fmt::format("{:.4g} ns", ns) : "-";
}

/// "2026-11-20T09:44:26.123Z" as "2026-11-20 09:44".
std::string minute_text(std::string time) {
  constexpr std::size_t kMinutes = 16;
  constexpr std::size_t kSeparator = 10;
  if (time.size() > kMinutes && time[kSeparator] == 'T') {
    time.resize(kMinutes);
    time[kSeparator] = ' ';
  }
  return time;
}

std::string group_heading(const LeaderboardRow& row) {
  return to_valid_utf8(fmt::format("{} on {} ({})", row.task, row.device, row.device_name));
}

/// Says which revision and evaluator a group is of, where that is not clear by itself.
std::string group_note(const std::vector<LeaderboardRow>& rows, const LeaderboardRow& row) {
  const bool alone = std::all_of(rows.begin(), rows.end(), [&](const LeaderboardRow& other) {
    return other.task != row.task || other.device != row.device ||
           other.device_name != row.device_name || same_group(other, row);
  });
  return alone ? ""
               : fmt::format(", task revision {}, evaluator {}",
                             row.task_digest.substr(0, kShortDigest), row.evaluator_version);
}

/// "=2" where several share the rank.
std::string rank_text(const LeaderboardRow& row) {
  return row.rank == 0 ? "-" : fmt::format("{}{}", row.is_tied ? "=" : "", row.rank);
}

std::string bounds_text(const tasks::Bounds& bounds) {
  return bounds.known() ? fmt::format("{:.2f}-{:.2f}", bounds.low, bounds.high) : "-";
}

/// A column for programs: empty where the interval is not known.
std::string bound_field(const tasks::Bounds& bounds, double tasks::Bounds::*end) {
  return bounds.known() ? fmt::format("{}", bounds.*end) : "";
}

TextTable readable_table(const std::vector<LeaderboardRow>& rows) {
  TextTable table;
  table.columns = {{"rank", true},        {"speedup vs baseline.cu", true},
                   {"time", true},        {"candidate", true},
                   {"file", false},       {"by", false},
                   {"parameters", false}, {"isolation", false},
                   {"evaluated", false}};
  const bool bounded = std::any_of(rows.begin(), rows.end(), [](const LeaderboardRow& row) {
    return row.speedup_bounds.known();
  });
  if (bounded) {
    table.columns.insert(table.columns.begin() + kColumnsBeforeBounds, {"95 %", true});
  }
  const bool annotated = std::any_of(rows.begin(), rows.end(), [](const LeaderboardRow& row) {
    return !annotations(row.findings).empty();
  });
  if (annotated) { // seldom: most boards do without the column
    table.columns.push_back({"machine code", false});
  }
  const bool paid = std::any_of(rows.begin(), rows.end(), [](const LeaderboardRow& row) {
    return row.dollars.value_or(0) > 0;
  });
  if (paid) {
    table.columns.push_back({"cost", true});
  }
  const bool all_ranked =
      std::all_of(rows.begin(), rows.end(), [](const LeaderboardRow& row) { return row.rank > 0; });
  if (!all_ranked) {
    table.columns.push_back({"not ranked because", false});
  }
  for (const LeaderboardRow& row : rows) {
    table.rows.push_back(
        {rank_text(row), fmt::format("{:.2f}x", row.speedup), duration_text(row.score_ns),
         fmt::format("{}", row.candidate), row.digest.substr(0, kShortDigest),
         row.model.empty() ? row.origin : row.model, parameters_text(row.parameters), row.isolation,
         minute_text(row.evaluated_at)});
    if (bounded) {
      table.rows.back().insert(table.rows.back().begin() + kColumnsBeforeBounds,
                               bounds_text(row.speedup_bounds));
    }
    if (annotated) {
      table.rows.back().push_back(annotations(row.findings));
    }
    if (paid) {
      table.rows.back().push_back(row.dollars ? fmt::format("${:.4f}", *row.dollars) : "-");
    }
    if (!all_ranked) {
      table.rows.back().push_back(row.unranked);
    }
  }
  return table;
}

/// "torch eager 2.9.1: 1.30x the time of baseline.cu, over 2 shapes"
std::string standing_text(const BaselineStanding& standing) {
  const std::string name =
      standing.version.empty() ? standing.name : standing.name + " " + standing.version;
  const std::string text =
      standing.relative_time > 0
          ? fmt::format("{}: {:.3g}x the time of baseline.cu, over {} shape{}", name,
                        standing.relative_time, standing.shapes, standing.shapes == 1 ? "" : "s")
          : fmt::format("{}: not compared with baseline.cu: {}", name, standing.note);
  return truncate_text(on_one_line(text), kMaxStandingBytes);
}

/// A line for each library or framework that was measured for the row's group.
std::string standings_text(const LeaderboardRow& row,
                           const std::vector<BaselineStanding>& baselines, Format format) {
  std::string text;
  for (const BaselineStanding& standing : baselines) {
    if (standing.task == row.task && standing.task_digest == row.task_digest &&
        standing.device == row.device && standing.device_name == row.device_name &&
        standing.evaluator_version == row.evaluator_version) {
      text += (format == Format::Markdown ? "- " : "  ") + standing_text(standing) + "\n";
    }
  }
  return text.empty() || format != Format::Markdown ? text : "\n" + text;
}

/// One heading and table for each group.
std::string format_groups(const std::vector<LeaderboardRow>& rows,
                          const std::vector<BaselineStanding>& baselines, Format format) {
  if (rows.empty()) {
    return kNobodyYet;
  }
  std::string text;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if_not(
        first, rows.end(), [&](const LeaderboardRow& row) { return same_group(row, *first); });
    const TextTable table = readable_table({first, last});
    const std::string heading = group_heading(*first) + group_note(rows, *first);
    text += text.empty() ? "" : "\n";
    text += format == Format::Markdown ? "## " + heading + "\n\n" + to_markdown(table)
                                       : heading + "\n" + to_aligned_text(table, 2);
    text += standings_text(*first, baselines, format);
    first = last;
  }
  return text;
}

} // namespace

bool same_group(const LeaderboardRow& a, const LeaderboardRow& b) {
  const bool ranked_apart = a.rank > 0 && b.rank > 0 && a.evaluator_version != b.evaluator_version;
  return a.task_digest == b.task_digest && a.task == b.task && a.device == b.device &&
         a.device_name == b.device_name && !ranked_apart;
}

std::string parameters_text(const std::string& parameters_json) {
  const json parameters = json::parse(parameters_json, nullptr, false);
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters.items()) {
    parts.push_back(fmt::format("{}={}", name, value.dump()));
  }
  return join(parts, " ");
}

json leaderboard_row_json(const LeaderboardRow& row) {
  return {{"task", row.task},
          {"task_digest", row.task_digest},
          {"device", row.device},
          {"device_name", row.device_name},
          {"rank", row.rank == 0 ? json(nullptr) : json(row.rank)},
          {"unranked", row.unranked},
          {"tied", row.is_tied},
          {"speedup", row.speedup},
          {"speedup_bounds", row.speedup_bounds.known()
                                 ? json{row.speedup_bounds.low, row.speedup_bounds.high}
                                 : json(nullptr)},
          {"speedup_versus", kSpeedupVersus},
          {"score_ns", row.score_ns},
          {"candidate", row.candidate},
          {"evaluation", row.evaluation},
          {"run", row.run},
          {"origin", row.origin},
          {"model", row.model.empty() ? json(nullptr) : json(row.model)},
          {"parameters", json::parse(row.parameters, nullptr, false)},
          {"isolation", row.isolation},
          {"digest", row.digest},
          {"lines", row.lines},
          {"evaluated_at", row.evaluated_at},
          {"evaluator_version", row.evaluator_version},
          {"findings", row.findings},
          {"dollars", row.dollars ? json(*row.dollars) : json(nullptr)}};
}

json baseline_standing_json(const BaselineStanding& standing) {
  const bool compared = standing.relative_time > 0;
  return {{"task", standing.task},
          {"task_digest", standing.task_digest},
          {"device", standing.device},
          {"device_name", standing.device_name},
          {"evaluator_version", standing.evaluator_version},
          {"name", standing.name},
          {"version", standing.version},
          {"time_versus", kSpeedupVersus},
          {"relative_time", compared ? json(standing.relative_time) : json(nullptr)},
          {"shapes", standing.shapes},
          {"agrees", standing.agrees},
          {"note", standing.note}};
}

TextTable full_table(const std::vector<LeaderboardRow>& rows) {
  TextTable table;
  for (const char* heading : {"task",
                              "device",
                              "device_name",
                              "rank",
                              "speedup",
                              "score_ns",
                              "candidate",
                              "run",
                              "origin",
                              "model",
                              "parameters",
                              "isolation",
                              "evaluated_at",
                              "lines",
                              "digest",
                              "task_digest",
                              "evaluator_version",
                              "speedup_versus",
                              "annotations",
                              "dollars",
                              "tied",
                              "speedup_low",
                              "speedup_high",
                              "unranked"}) {
    table.columns.push_back({heading, false});
  }
  for (const LeaderboardRow& row : rows) {
    table.rows.push_back({row.task,
                          row.device,
                          row.device_name,
                          row.rank == 0 ? "" : fmt::format("{}", row.rank),
                          fmt::format("{}", row.speedup),
                          fmt::format("{}", row.score_ns),
                          fmt::format("{}", row.candidate),
                          fmt::format("{}", row.run),
                          row.origin,
                          row.model,
                          row.parameters,
                          row.isolation,
                          row.evaluated_at,
                          fmt::format("{}", row.lines),
                          row.digest,
                          row.task_digest,
                          fmt::format("{}", row.evaluator_version),
                          kSpeedupVersus,
                          annotations(row.findings),
                          row.dollars ? fmt::format("{}", *row.dollars) : "",
                          row.is_tied ? "true" : "false",
                          bound_field(row.speedup_bounds, &tasks::Bounds::low),
                          bound_field(row.speedup_bounds, &tasks::Bounds::high),
                          row.unranked});
  }
  return table;
}

std::string format_leaderboard(const std::vector<LeaderboardRow>& rows, Format format,
                               const std::vector<BaselineStanding>& baselines) {
  switch (format) {
  case Format::Json: {
    json list = json::array();
    for (const LeaderboardRow& row : rows) {
      list.push_back(leaderboard_row_json(row));
    }
    json beside = json::array();
    for (const BaselineStanding& standing : baselines) {
      beside.push_back(baseline_standing_json(standing));
    }
    const json document{
        {"schema", "winnow.leaderboard"}, {"version", 1}, {"rows", list}, {"baselines", beside}};
    return json_document(document);
  }
  case Format::Csv:
    return to_csv(full_table(rows));
  case Format::Markdown:
  case Format::Table:
    break;
  }
  return format_groups(rows, baselines, format);
}

} // namespace winnow::store
