#include "harness/report/tuning_report.h"

#include "harness/report/eval_report.h"
#include "harness/report/json_table.h"
#include "harness/report/timed_shapes.h"
#include "search/response_surface.h"
#include "store/candidate_record.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 20;

json or_null(const std::optional<double>& value) {
  return value ? json(*value) : json();
}

json trial_json(const search::Trial& trial) {
  json speeds = json::array();
  for (const double speed : trial.speeds) {
    speeds.push_back(measured_json(speed));
  }
  const bool was_timed = !trial.speeds.empty();
  return {{"parameters", trial.choice},
          {"verdict", was_timed ? "timed" : to_string(trial.verdict)},
          {"speeds", speeds},
          {"speed", measured_json(search::overall(trial))}};
}

/// Fastest first; the choices that did not run come last.
json trials_json(std::vector<search::Trial> trials) {
  std::stable_sort(trials.begin(), trials.end(), [](const auto& a, const auto& b) {
    return search::overall(a) > search::overall(b);
  });
  json list = json::array();
  for (const search::Trial& trial : trials) {
    list.push_back(trial_json(trial));
  }
  return list;
}

std::string overall_speed_text(const json& speed) {
  return speed.is_null() ? "" : ratio_text(speed.get<double>());
}

std::string table_text(const json& document) {
  json rows = document.at("trials");
  const std::size_t all = rows.size();
  if (all > kMostRows) {
    rows.erase(rows.begin() + kMostRows, rows.end());
  }
  std::vector<JsonColumn> columns{
      {{"choice"}, "", [](const json& trial) { return parameters_at(trial); }},
      {{"verdict"}, "verdict"}};
  const json& shapes = document.at("shapes");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    columns.push_back({{shapes[i], true}, "speeds", [i](const json& speeds) {
                         return i < speeds.size() ? overall_speed_text(speeds[i]) : "";
                       }});
  }
  columns.push_back({{"overall", true}, "speed", overall_speed_text});
  std::string text = to_aligned_text(json_table(rows, columns), 0);
  if (all > kMostRows) {
    text += fmt::format("... and {} more; --json has all\n", all - kMostRows);
  }
  return text + "speeds are times of the default over times of the choice, at shown shapes; only "
                "the default and the winner run at hidden shapes\n";
}

std::string result_text(const json& document) {
  const json& winner = document.at("winner");
  if (winner.is_null()) {
    return "over all shapes no choice is faster than the default beyond the noise of the trials\n";
  }
  const std::string name = parameters_at(winner);
  const json& race = winner.at("race");
  if (race.is_null()) {
    return fmt::format("{} was the fastest in its trials, but its verdict is {}: {}\n", name,
                       text_at(winner, "verdict"), text_at(winner, "detail"));
  }
  if (race.at("ratio").is_null()) {
    return fmt::format("how fast {} is beside the default is not known, because a shape had too "
                       "few launches; the default stays\n",
                       name);
  }
  const std::string verdict = text_at(race, "verdict");
  return fmt::format("{} is {} as fast as the default: {} (99 %), {}{}\n", name,
                     ratio_text(race.at("ratio")),
                     ratio_interval_text({race.at("low"), race.at("high")}), verdict,
                     verdict == "faster" ? "" : "; the default stays");
}

/// How long the trials took. A server does not tell the wall time, which others share.
std::string pace_text(const json& document) {
  const std::size_t trials = document.at("trials").size();
  if (document.at("seconds").is_null()) {
    return fmt::format("{} choices in {:.1f} s of the device\n", trials,
                       document.at("device_seconds").get<double>());
  }
  const double seconds = document.at("seconds").get<double>();
  return fmt::format("{} choices in {:.1f} s: {:.1f} a second; the device was busy for {:.0f} % of "
                     "that time\n",
                     trials, seconds, static_cast<double>(trials) / std::max(seconds, 1e-9),
                     100 * document.at("busy_share").get<double>());
}

} // namespace

json tuning_json(const TuningReport& report) {
  const TunedFamily& family = report.family;
  json document{{"schema", "winnow.tuning"},
                {"version", 1},
                {"task", report.task},
                {"file", report.file},
                {"digest", report.digest},
                {"shapes", report.shapes},
                {"default", tasks::evaluation_json(family.of_default)},
                {"trials", trials_json(family.trials)},
                {"surface", search::response_surface(family.trials, report.shapes)},
                {"winner", nullptr},
                {"best_parameters", family.best().parameters},
                {"dispatch", report.dispatch},
                {"tuned_file", report.tuned_file},
                {"unchanged", report.is_unchanged},
                {"seconds", or_null(family.seconds)},
                {"device_seconds", family.device_seconds},
                {"busy_share", or_null(report.busy_share)}};
  store::put_versus(document["default"], report.speedup_versus);
  document["lines"] = search::surface_lines(search::response_surface(family.trials, report.shapes));
  if (family.of_winner) {
    const tasks::Evaluation& winner = *family.of_winner;
    json race;
    if (winner.race) {
      race = {{"verdict", winner.race->verdict},
              {"ratio", measured_json(winner.race->ratio.value_or(0))},
              {"low", winner.race->bounds.low},
              {"high", winner.race->bounds.high}};
    }
    document["winner"] = {{"parameters", winner.parameters},
                          {"verdict", to_string(winner.verdict)},
                          {"detail", winner.detail},
                          {"race", race}};
    put_measured(document["winner"], "speedup", "", winner.speedup, winner.speedup_bounds);
    store::put_versus(document["winner"], report.speedup_versus);
  }
  return document;
}

std::string tuning_text(const json& document) {
  if (document.at("default").at("verdict") != "correct") {
    return "the default choice of parameters is not correct, so there is nothing to tune\n" +
           eval_text(document.at("default"));
  }
  if (document.at("trials").size() < 2) {
    return "the plan allows one choice of parameters, so there is nothing to tune\n";
  }
  std::string text = table_text(document) + '\n';
  for (const json& line : document.at("lines")) {
    text += line.get<std::string>() + '\n';
  }
  text += '\n' + result_text(document);
  if (const std::string dispatch = text_at(document, "dispatch"); !dispatch.empty()) {
    text += dispatch + '\n';
  }
  text += pace_text(document);
  if (text_at(document.at("default"), "device") == "cpu") {
    text += "these times are of the CPU device, so the choice means nothing for a GPU\n";
  }
  const std::string written = text_at(document, "tuned_file");
  if (written.empty()) {
    return text;
  }
  return text + (document.at("unchanged").get<bool>() ? "unchanged, a copy is " : "written to ") +
         written + '\n';
}

} // namespace winnow::harness
