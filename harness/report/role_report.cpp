#include "harness/report/role_report.h"

#include "base/text/number_text.h"
#include "harness/report/json_table.h"
#include "profiling/statistics/proportion.h"
#include "search/speed_bins.h"
#include "store/advice.h"
#include "store/fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using profiling::Proportion;

json proportion_json(std::int64_t count, std::int64_t all) {
  if (all == 0) {
    return nullptr;
  }
  const Proportion share = profiling::wilson_interval(count, all);
  return {{"count", count},
          {"of", all},
          {"value", share.value},
          {"low", share.low},
          {"high", share.high}};
}

/// The failing candidates that were rejected, among all that fail. The failing ones among the
/// rejected are estimated from the audited ones; the interval comes from that estimate.
json recall_json(const store::VerifierRecord& record) {
  const std::int64_t audited = record.audited_failed + record.audited_correct;
  if (audited == 0) {
    return nullptr;
  }
  const Proportion precision = profiling::wilson_interval(record.audited_failed, audited);
  const auto recall = [&](double share) {
    const double caught = share * static_cast<double>(record.rejected);
    const double all = caught + static_cast<double>(record.accepted_failed);
    return all > 0 ? caught / all : 0;
  };
  return {{"value", recall(precision.value)},
          {"low", recall(precision.low)},
          {"high", recall(precision.high)}};
}

json verifier_json(const store::VerifierRecord& record) {
  json document = store::record_json(record);
  document["precision"] =
      proportion_json(record.audited_failed, record.audited_failed + record.audited_correct);
  document["recall"] = recall_json(record);
  return document;
}

json forecast_json(const store::StoredForecast& forecast) {
  const auto chances = json::parse(forecast.content).at("chances").get<std::vector<double>>();
  const auto likely = std::max_element(chances.begin(), chances.end());
  json written{
      {"key", forecast.key},
      {"candidate_id", forecast.candidate},
      {"chances", chances},
      {"likely", search::speed_bin_text(static_cast<std::size_t>(likely - chances.begin()))},
      {"left_out", forecast.is_left_out}};
  const std::optional<store::ForecastRow>& score = forecast.score;
  written["speed"] = score ? json(score->ratio) : json();
  written["score"] = score ? json(score->score) : json();
  written["model_free"] = score ? json(score->model_free) : json();
  written["chance"] = score ? json(score->chance) : json();
  written["audit"] = score && score->is_audit;
  written["beats_best"] = score ? json(score->beats_best) : json();
  return written;
}

void put_forecasts(json& role, const store::RunStore& store, store::RowId run) {
  role["forecast_scores"] = store::record_json(store::forecast_record(store, run));
  role["forecasts"] = json::array();
  for (const store::StoredForecast& forecast : store::forecasts(store, run)) {
    role["forecasts"].push_back(forecast_json(forecast));
  }
}

/// The mean gains of arms, as factors of the speed, with intervals by the normal distribution.
json arms_json(const store::RunStore& store, store::RowId run, store::PromptArms which) {
  constexpr double kZ = 1.96;
  json arms = json::array();
  for (const store::PromptArmTotals& arm : store::prompt_arm_totals(store, run, which)) {
    const double half = kZ * std::sqrt(arm.variance / static_cast<double>(arm.children));
    json written{
        {"arm", arm.arm}, {"kernels", arm.children}, {"mean_gain", std::exp(arm.mean_gain)}};
    written["low"] = arm.children > 1 ? json(std::exp(arm.mean_gain - half)) : json();
    written["high"] = arm.children > 1 ? json(std::exp(arm.mean_gain + half)) : json();
    if (const auto advice = store.find_advice(run, arm.arm); advice && !advice->content.empty()) {
      written["words"] = json::parse(advice->content).at("words");
    }
    arms.push_back(written);
  }
  return arms;
}

json role_json(const store::RunStore& store, store::RowId run, const store::RoleTotals& totals) {
  json role = store::record_json(totals, {"scored correct"});
  if (totals.role == "judge") {
    role["directions"] = proportion_json(totals.correct, totals.scored);
    role["median_error_pct"] = store::judge_record(store, run).median_error;
  } else if (totals.role == "verifier") {
    role["answers"] = verifier_json(store::verifier_record(store, run));
  } else if (totals.role == "forecaster") {
    put_forecasts(role, store, run);
  } else if (totals.role == "meta-prompter") {
    role["arms"] = arms_json(store, run, store::PromptArms::Variant);
  }
  return role;
}

std::string percent_text(const json& share) {
  return share.is_null()
             ? "not known"
             : fmt::format("{:.0f} % ({:.0f} to {:.0f} %)", 100 * number_at(share, "value"),
                           100 * number_at(share, "low"), 100 * number_at(share, "high"));
}

std::string arm_line(const json& arm) {
  const std::string name = text_at(arm, "arm");
  return fmt::format(
      "  {}: {} kernels, mean gain x{:.3f}{}\n", name.empty() ? "built-in words" : name,
      text_at(arm, "kernels"), number_at(arm, "mean_gain"),
      arm.at("low").is_null()
          ? ""
          : fmt::format(" (x{:.3f} to x{:.3f})", number_at(arm, "low"), number_at(arm, "high")));
}

std::string role_score_text(const json& role) {
  if (role.contains("directions")) {
    return role["directions"].is_null()
               ? "no prediction was measured yet"
               : filled("right direction {count} of {of}, ", role["directions"]) +
                     fmt::format("{}; median error of the size {:.0f} points",
                                 percent_text(role["directions"]),
                                 number_at(role, "median_error_pct"));
  }
  if (role.contains("answers")) {
    return fmt::format("precision {}, recall {}", percent_text(role["answers"]["precision"]),
                       percent_text(role["answers"]["recall"]));
  }
  if (role.contains("forecast_scores")) {
    const json& scores = role["forecast_scores"];
    return scores["score"].is_null()
               ? "no forecast was measured yet"
               : fmt::format("mean score of {} forecasts {:.4f}, without a model {:.4f}; 0 is best",
                             text_at(scores, "measured"), number_at(scores, "score"),
                             number_at(scores, "model_free"));
  }
  return "";
}

std::string verifier_lines(const json& answers) {
  return filled("verifier: accepted {accepted_correct} correct and {accepted_failed} failing "
                "kernels; rejected {rejected}, of which ",
                answers) +
         fmt::format("{:.0f} ran as an audit: {} failed\n",
                     number_at(answers, "audited_correct") + number_at(answers, "audited_failed"),
                     text_at(answers, "audited_failed"));
}

/// "  gemm_f32/forecast/2, candidate 7: likely 1.1x to 1.25x; measured 1.180x, score 0.0313,
/// without a model 0.1250".
std::string forecast_line(const json& forecast) {
  const std::string text = filled("  {key}, candidate {candidate_id}: likely {likely}; ", forecast);
  if (forecast.at("left_out") == true) {
    return text + "left out\n";
  }
  if (forecast.at("speed").is_null()) {
    return text + "no speed was measured\n";
  }
  return text + fmt::format("measured {:.3f}x{}, score {:.4f}, without a model {:.4f}\n",
                            number_at(forecast, "speed"),
                            forecast.at("audit") == true ? " as an audit" : "",
                            number_at(forecast, "score"), number_at(forecast, "model_free"));
}

std::string forecaster_lines(const json& role) {
  constexpr std::size_t kMostLines = 20;
  std::string text =
      filled("forecaster: left out {left_out} kernels; {audited} improbable ones ran as an audit: "
             "{audited_beat} beat the best kernel. Speeds as multiples of the parent's:\n",
             role.at("forecast_scores"));
  const json& all = role.at("forecasts");
  for (std::size_t i = 0; i < std::min(all.size(), kMostLines); ++i) {
    text += forecast_line(all[i]);
  }
  return text + (all.size() > kMostLines
                     ? fmt::format("  and {} more (--json)\n", all.size() - kMostLines)
                     : "");
}

std::string details_of(const json& role) {
  std::string text;
  if (role.contains("answers")) {
    text += verifier_lines(role["answers"]);
  }
  if (role.contains("forecasts")) {
    text += forecaster_lines(role);
  }
  if (role.contains("arms") && !role["arms"].empty()) {
    text += text_at(role, "role") + ":\n";
    for (const json& arm : role["arms"]) {
      text += arm_line(arm);
    }
  }
  return text;
}

} // namespace

json roles_json(const store::RunStore& store, const store::RunRow& run) {
  json document{{"schema", "winnow.roles"},
                {"version", 1},
                {"run", run.name},
                {"roles", json::array()},
                {"switched_off", json::array()}};
  for (const store::RoleTotals& totals : store::role_totals(store, run.id)) {
    document["roles"].push_back(role_json(store, run.id, totals));
  }
  for (const auto& [role, kind] : {std::pair("memory", store::PromptArms::Memory),
                                   std::pair("exemplar", store::PromptArms::Exemplar)}) {
    const json arms = arms_json(store, run.id, kind);
    if (std::any_of(arms.begin(), arms.end(),
                    [](const json& arm) { return arm.at("arm") == "with"; })) {
      document["roles"].push_back({{"role", role}, {"arms", arms}});
    }
  }
  for (const store::EventRow& event : store.events(run.id)) {
    if (event.kind == "role switched off") {
      json moment = json::parse(event.detail);
      moment["at"] = event.created_at;
      document["switched_off"].push_back(moment);
    }
  }
  return document;
}

std::string roles_text(const json& document) {
  if (document.at("roles").empty()) {
    return "";
  }
  const auto tokens = [](const json& role) {
    return fmt::format("{:.0f}",
                       number_at(role, "prompt_tokens") + number_at(role, "completion_tokens"));
  };
  const auto dollars = [](const json& sum) {
    return sum.is_null() ? "unknown" : number_text(sum.get<double>(), 4);
  };
  json rows = json::array();
  std::string details;
  for (const json& role : document.at("roles")) {
    details += details_of(role);
    if (role.contains("calls")) {
      rows.push_back(role);
    }
  }
  for (const json& moment : document.at("switched_off")) {
    details +=
        filled("{task}: the {role} was switched off after {after_calls} calls: {reason}\n", moment);
  }
  const TextTable table = json_table(rows, {{{"role"}, "role"},
                                            {{"calls", true}, "calls"},
                                            {{"useful", true}, "useful"},
                                            {{"tokens", true}, "", tokens},
                                            {{"dollars", true}, "dollars", dollars},
                                            {{"score"}, "", role_score_text}});
  return (rows.empty() ? "" : to_aligned_text(table, 0)) + details;
}

} // namespace winnow::harness
