#include "harness/report/variants_table.h"

#include "base/text.h"
#include "base/text/number_text.h"
#include "harness/report/json_table.h"
#include "tasks/result/speedup.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kMostOfLine = 400; // a few lines of a screen

bool is_correct(const json& brief) {
  return brief.at("verdict") == to_string(tasks::Verdict::Correct);
}

/// By `eval --compile-only`.
bool is_compiled_only(const json& brief) {
  return brief.at("verdict") == to_string(tasks::Verdict::NotJudged) &&
         text_at(brief, "stage") == to_string(tasks::Stage::Compile);
}

/// Correct kernels come first, the fastest of them at the top.
bool is_better(const json& a, const json& b) {
  if (is_correct(a) != is_correct(b)) {
    return is_correct(a);
  }
  return number_at(a, "speedup/value") > number_at(b, "speedup/value");
}

/// In the order of the first file that was timed there.
std::vector<std::string> timed_shapes_of(const std::vector<json>& briefs) {
  std::vector<std::string> shapes;
  for (const json& brief : briefs) {
    for (const json& timed : value_at(brief, "shapes")) {
      if (!contains(shapes, text_at(timed, "shape"))) {
        shapes.push_back(text_at(timed, "shape"));
      }
    }
  }
  return shapes;
}

std::string time_at(const json& brief, const std::string& shape) {
  for (const json& timed : value_at(brief, "shapes")) {
    if (text_at(timed, "shape") == shape) {
      return number_text(number_at(timed, "time_ns") / 1000);
    }
  }
  return "";
}

bool is_wide(const json& brief) {
  const json& wide = value_at(brief, "speedup/wide");
  return wide.is_boolean() && wide.get<bool>();
}

std::string interval_of(const json& brief) {
  return tasks::speedup_interval_text(
             {number_at(brief, "speedup/low"), number_at(brief, "speedup/high")}) +
         (is_wide(brief) ? " wide" : "");
}

/// "a.cu: steps at n=1000: merge 2 us (2 times), scan 4.1 us"; empty: not known.
std::string steps_line(const json& brief) {
  std::vector<std::string> steps;
  for (const json& step : value_at(brief, "steps/times")) {
    const auto count = step.at("count").get<std::int64_t>();
    steps.push_back(fmt::format("{} {} us{}", text_at(step, "step"),
                                number_text(number_at(step, "ns") / 1000),
                                count > 1 ? fmt::format(" ({} times)", count) : ""));
  }
  return steps.empty() ? ""
                       : fmt::format("{}: steps at {}: {}", text_at(brief, "file"),
                                     text_at(brief, "steps/shape"), join(steps, ", "));
}

/// "a.cu: tried BLOCK=128 1.3x, BLOCK=64 1x, BLOCK=2048 launch_error"; empty: no others.
std::string tried_line(const json& brief) {
  std::vector<std::string> tried;
  for (const json& one : value_at(brief, "tried")) {
    const double speed = number_at(one, "speed");
    tried.push_back(text_at(one, "parameters") + " " +
                    (speed > 0 ? number_text(speed) + "x" : text_at(one, "verdict")));
  }
  return tried.size() < 2 ? ""
                          : fmt::format("{}: tried {}", text_at(brief, "file"), join(tried, ", "));
}

std::string speedup_of(const json& brief) {
  return tasks::speedup_text(number_at(brief, "speedup/value"),
                             {number_at(brief, "speedup/low"), number_at(brief, "speedup/high")});
}

std::string verdict_of(const json& brief) {
  if (is_compiled_only(brief)) {
    return "compiles";
  }
  const bool is_held_back = is_correct(brief) && !brief.at("promoted").get<bool>();
  return text_at(brief, "verdict") + (is_held_back ? ", not promoted" : "");
}

std::string light_of(const json& brief) {
  const double share = number_at(brief, "speed_of_light");
  return share > 0 ? percent_text(share) : "";
}

TextTable table_of(const std::vector<json>& briefs) {
  std::vector<JsonColumn> columns{{{"file"}, "file"}, {{"verdict"}, "", verdict_of}};
  for (const std::string& shape : timed_shapes_of(briefs)) {
    columns.push_back(
        {{shape + " us", true}, "", [shape](const json& brief) { return time_at(brief, shape); }});
  }
  columns.push_back({{"speedup", true}, "", speedup_of});
  columns.push_back({{"95 %", true}, "", interval_of});
  columns.push_back({{"speed of light", true}, "", light_of});
  TextTable table = json_table(json(briefs), columns);
  table.splits = true;
  remove_empty_columns(table);
  return table;
}

/// The first line of the reason, or what the verdict means.
std::string reason_of(const json& brief) {
  const std::string detail = text_at(brief, "detail");
  if (const std::string_view first = trim(detail).substr(0, trim(detail).find('\n'));
      !first.empty()) {
    return std::string(first);
  }
  const auto verdict = tasks::verdict_from_string(text_at(brief, "verdict"));
  return verdict ? std::string(describe(*verdict)) : "";
}

} // namespace

void VariantsTable::add(json brief) {
  brief.erase("feedback");
  briefs_.push_back(std::move(brief));
}

std::string VariantsTable::text() const {
  std::vector<json> sorted = briefs_;
  std::stable_sort(sorted.begin(), sorted.end(), is_better);
  std::string text = to_aligned_text(table_of(sorted), 0);
  for (const json& brief : sorted) {
    if (!is_correct(brief) && !is_compiled_only(brief)) {
      text += fmt::format("{}: {}: {}\n", text_at(brief, "file"), text_at(brief, "verdict"),
                          reason_of(brief));
    }
    for (const std::string& line : {steps_line(brief), tried_line(brief)}) {
      text += line.empty() ? "" : shortened(line, kMostOfLine) + "\n";
    }
  }
  if (std::any_of(sorted.begin(), sorted.end(), is_wide)) {
    text += "wide: more than 3 % to a side; `winnow race` tells kernels of similar speeds apart\n";
  }
  return text;
}

} // namespace winnow::harness
