#include "harness/report/lab_report.h"

#include "base/text.h"
#include "harness/report/counted.h"
#include "harness/report/json_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr const char* kValued =
    "The lab values which kernel a call builds on, repairs, seeds, models by price, tuning, races, "
    "waiting for results, and stops.";
constexpr const char* kNotValued =
    "It cannot value what a prompt shows (history, exemplars of a contrast, failures, families) "
    "nor "
    "roles: neither changes a gain, unless [effects] of a landscape says so.";

void put_estimate(json& object, const std::string& name, const lab::Estimate& estimate) {
  object[name] = estimate.mean;
  object[name + "_low"] = estimate.low;
  object[name + "_high"] = estimate.high;
}

json score_json(const lab::Score& score) {
  json written{{"standing", to_string(score.standing())}};
  put_estimate(written, "mean", score.own);
  put_estimate(written, "difference", score.difference);
  return written;
}

json row_json(const lab::ComparisonRow& row, const std::vector<std::string>& roles) {
  return {{"name", row.name},
          {"roles", roles},
          {"scores",
           {{"by_calls", score_json(row.by_calls)},
            {"by_dollars", row.by_dollars ? score_json(*row.by_dollars) : json(nullptr)},
            {"by_device_seconds", score_json(row.by_device)},
            {"final", score_json(row.final)},
            {"hidden", score_json(row.hidden)}}},
          {"calls", row.calls},
          {"dollars", row.dollars},
          {"device_seconds", row.device_seconds},
          {"hours", row.hours}};
}

json budget_json(const lab::Limits& budget) {
  return {{"calls", budget.calls},
          {"dollars", budget.dollars > 0 ? json(budget.dollars) : json(nullptr)},
          {"device_seconds", budget.device_seconds}};
}

std::string score_text(const json& score) {
  if (score.is_null()) {
    return "-";
  }
  return fmt::format("{:.3f}", score.at("mean").get<double>());
}

/// "+0.031 (+0.012 to +0.050) ahead"
std::string difference_text(const json& score) {
  if (score.is_null()) {
    return "";
  }
  if (score.at("difference_low") == 0 && score.at("difference_high") == 0) {
    return "the same"; // a mechanism that the lab cannot value, or the reference itself
  }
  return fmt::format("{:+.3f} ({:+.3f} to {:+.3f}) {}", score.at("difference").get<double>(),
                     score.at("difference_low").get<double>(),
                     score.at("difference_high").get<double>(),
                     score.at("standing").get<std::string>());
}

JsonColumn fixed_column(const std::string& heading, const std::string& path, int digits) {
  return {{heading, true}, path, [digits](const json& value) {
            return fmt::format("{:.{}f}", value.get<double>(), digits);
          }};
}

std::string landscape_text(const json& landscape, const std::string& reference) {
  const json& budget = landscape.at("budget");
  const json& dollars = budget.at("dollars");
  std::string text = fmt::format(
      "{}: {}{}, {:.3g} s of the device; {} simulated tasks\n",
      landscape.at("name").get<std::string>(), counted(budget.at("calls").get<int>(), "call"),
      dollars.is_null() ? "" : fmt::format(", ${:.3g}", dollars.get<double>()),
      budget.at("device_seconds").get<double>(), landscape.at("seeds").get<int>());
  const std::vector<std::string> effects = landscape.at("effects");
  text += effects.empty() ? "" : "effects of prompts: " + join(effects, ", ") + "\n";
  const std::vector<JsonColumn> columns{
      {{"strategy"}, "name"},
      {{"per call", true}, "scores/by_calls", score_text},
      {{"beside " + reference}, "scores/by_calls", difference_text},
      {{"per dollar", true}, "scores/by_dollars", score_text},
      {{"beside it"}, "scores/by_dollars", difference_text},
      {{"per device s", true}, "scores/by_device_seconds", score_text},
      {{"beside it"}, "scores/by_device_seconds", difference_text},
      {{"final", true}, "scores/final", score_text},
      {{"hidden", true}, "scores/hidden", score_text},
      fixed_column("calls", "calls", 1),
      fixed_column("$", "dollars", 2),
      fixed_column("device s", "device_seconds", 1),
      fixed_column("hours", "hours", 2)};
  TextTable table = json_table(landscape.at("rows"), columns);
  table.splits = true;
  remove_empty_columns(table);
  return text + to_aligned_text(table, 2) + "\n";
}

/// How many others are ahead of the reference, and so on: "ahead of 2, tied with 1, behind 0".
std::string standing_text(const json& document, const std::string& currency) {
  int ahead = 0, tied = 0, behind = 0;
  const json& reference = document.at("reference");
  for (const json& landscape : document.at("landscapes")) {
    for (const json& row : landscape.at("rows")) {
      const json& score = row.at("scores").at(currency);
      if (row.at("name") != reference && !score.is_null()) {
        const std::string standing = score.at("standing");
        ahead += standing == "behind" ? 1 : 0;
        tied += standing == "tie" ? 1 : 0;
        behind += standing == "ahead" ? 1 : 0;
      }
    }
  }
  return fmt::format("ahead of {}, tied with {}, behind {}", ahead, tied, behind);
}

std::string missing_roles_text(const json& document) {
  std::vector<std::string> with_roles;
  for (const json& row : document.at("landscapes").at(0).at("rows")) {
    const std::vector<std::string> roles = row.at("roles");
    if (!roles.empty()) {
      with_roles.push_back(row.at("name").get<std::string>() + " (" + join(roles, ", ") + ")");
    }
  }
  return with_roles.empty() ? ""
                            : "Simulated without their roles: " + join(with_roles, ", ") + ".\n";
}

std::string statistic_text(double value) {
  return fmt::format("{:.3f}", value);
}

} // namespace

json lab_comparison_json(const std::vector<LabResult>& results, const std::string& ablated,
                         const std::map<std::string, std::vector<std::string>>& roles) {
  json document{{"schema", "winnow.lab_comparison"},
                {"version", 1},
                {"reference", results.front().comparison.reference},
                {"ablated", ablated.empty() ? json(nullptr) : json(ablated)},
                {"landscapes", json::array()},
                {"valued", kValued},
                {"not_valued", kNotValued}};
  for (const auto& [landscape, comparison] : results) {
    json rows = json::array();
    for (const lab::ComparisonRow& row : comparison.rows) {
      const auto own = roles.find(row.name);
      rows.push_back(row_json(row, own == roles.end() ? std::vector<std::string>{} : own->second));
    }
    document["landscapes"].push_back({{"name", landscape.name},
                                      {"sources", landscape.sources},
                                      {"effects", landscape.effects_on()},
                                      {"budget", budget_json(comparison.budget)},
                                      {"seeds", comparison.seeds},
                                      {"simulated_calls", comparison.calls},
                                      {"rows", rows}});
  }
  return document;
}

std::string lab_comparison_text(const json& document) {
  std::string text;
  const std::string reference = document.at("reference");
  for (const json& landscape : document.at("landscapes")) {
    text += landscape_text(landscape, reference);
  }
  text += "A number per call, dollar or device second is the mean log speedup of the best kernel "
          "while that budget is spent.\nDifferences are paired by simulated task; intervals are "
          "95 %, each by itself, so that 1 of 20 excludes 0 by chance.\n";
  const bool is_ablation = !document.at("ablated").is_null();
  if (is_ablation) {
    text += fmt::format("`behind` without a mechanism: the mechanism helps {}. `the same`: the lab "
                        "cannot value it, or it was never used.\n",
                        reference);
  } else {
    text += fmt::format("{} is, per call: {}; per dollar: {}; per device second: {}.\n", reference,
                        standing_text(document, "by_calls"), standing_text(document, "by_dollars"),
                        standing_text(document, "by_device_seconds"));
  }
  return text + missing_roles_text(document) + document.at("valued").get<std::string>() + "\n" +
         document.at("not_valued").get<std::string>() + "\n";
}

json lab_fit_json(const lab::Fit& fit) {
  json document{{"schema", "winnow.lab_fit"},
                {"version", 1},
                {"name", fit.landscape.name},
                {"searches", fit.searches},
                {"calls", fit.calls},
                {"mean_error", fit.mean_error},
                {"notes", fit.notes},
                {"statistics", json::array()},
                {"landscape", landscape_toml(fit.landscape)}};
  for (const lab::FitRow& row : fit.rows) {
    document["statistics"].push_back({{"name", row.name},
                                      {"recorded", row.recorded},
                                      {"error", row.error},
                                      {"simulated", row.simulated}});
  }
  return document;
}

std::string lab_fit_text(const json& document) {
  TextTable table{
      {{"statistic"}, {"recorded", true}, {"error", true}, {"simulated", true}, {"errors", true}},
      {}};
  for (const json& row : document.at("statistics")) {
    const double recorded = row.at("recorded"), error = row.at("error"),
                 simulated = row.at("simulated");
    table.rows.push_back({row.at("name"), statistic_text(recorded), statistic_text(error),
                          statistic_text(simulated),
                          fmt::format("{:+.1f}", (simulated - recorded) / error)});
  }
  std::string text = document.at("name").get<std::string>();
  if (document.at("calls").get<int>() > 0) {
    text += fmt::format(": {} of {}",
                        counted(document.at("calls").get<int>(), "judged reply", "judged replies"),
                        counted(document.at("searches").get<int>(), "search", "searches"));
  }
  text += "\n" + to_aligned_text(table, 2) +
          fmt::format("root mean square of the differences: {:.2f} standard errors\n",
                      document.at("mean_error").get<double>());
  for (const json& note : document.at("notes")) {
    text += note.get<std::string>() + "\n";
  }
  return text;
}

json lab_replay_json(const std::vector<LabReplay>& replays) {
  json document{{"schema", "winnow.lab_replay"}, {"version", 1}, {"replays", json::array()}};
  for (const LabReplay& one : replays) {
    document["replays"].push_back({{"search", one.search},
                                   {"strategy", one.strategy},
                                   {"is_own", one.is_own},
                                   {"recorded_calls", one.replay.recorded},
                                   {"replayed_calls", one.replay.replayed},
                                   {"log_speedup", one.replay.best},
                                   {"recorded_log_speedup", one.replay.recorded_best},
                                   {"why_stopped", one.replay.why_stopped}});
  }
  return document;
}

namespace {

/// A line for each strategy, in the order of their first replay.
json sums_by_strategy(const json& replays) {
  json sums = json::array();
  for (const json& one : replays) {
    auto sum = std::find_if(sums.begin(), sums.end(), [&](const json& other) {
      return other.at("strategy") == one.at("strategy");
    });
    if (sum == sums.end()) {
      sums.push_back(one);
      sums.back().update({{"search", 1}, {"why_stopped", ""}});
      continue;
    }
    (*sum)["search"] = sum->at("search").get<int>() + 1;
    (*sum)["is_own"] = sum->at("is_own") == true || one.at("is_own") == true;
    for (const char* name : {"recorded_calls", "replayed_calls"}) {
      (*sum)[name] = sum->at(name).get<int>() + one.at(name).get<int>();
    }
    for (const char* name : {"log_speedup", "recorded_log_speedup"}) {
      (*sum)[name] = sum->at(name).get<double>() + one.at(name).get<double>();
    }
  }
  for (json& sum : sums) { // means over the searches
    for (const char* name : {"log_speedup", "recorded_log_speedup"}) {
      sum[name] = sum.at(name).get<double>() / sum.at("search").get<double>();
    }
  }
  return sums;
}

std::string speedup_of_log(const json& log) {
  return fmt::format("{:.2f}x", std::exp(log.get<double>()));
}

TextTable replay_table(const json& rows, const std::string& first_heading) {
  const auto own = [](const json& is_own) { return is_own.get<bool>() ? "yes" : ""; };
  TextTable table =
      json_table(rows, {{{"strategy"}, "strategy"},
                        {{first_heading}, "search"},
                        {{"recorded it"}, "is_own", own},
                        {{"calls replayed", true}, "replayed_calls"},
                        {{"recorded", true}, "recorded_calls"},
                        {{"speedup", true}, "log_speedup", speedup_of_log},
                        {{"recorded then", true}, "recorded_log_speedup", speedup_of_log},
                        {{"stopped because"}, "why_stopped"}});
  remove_empty_columns(table);
  return table;
}

} // namespace

std::string lab_replay_text(const json& document, bool searches) {
  const json& replays = document.at("replays");
  std::string text = to_aligned_text(replay_table(sums_by_strategy(replays), "searches"), 0);
  if (searches) {
    text += "\n" + to_aligned_text(replay_table(replays, "search"), 0);
  }
  return text +
         "speedup: geometric mean, over the searches, of the best kernel after the replayed calls; "
         "recorded then: after as many calls of the recorded search\nA replay stops at the first "
         "decision that the log does not answer, so more replayed calls are not a merit.\n";
}

} // namespace winnow::harness
