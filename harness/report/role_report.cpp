#include "harness/report/role_report.h"

#include "base/text/number_text.h"
#include "harness/report/text_table.h"
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
             : fmt::format("{:.0f} % ({:.0f} to {:.0f} %)", 100 * share.at("value").get<double>(),
                           100 * share.at("low").get<double>(),
                           100 * share.at("high").get<double>());
}

std::string arm_line(const json& arm) {
  const std::string name = arm.at("arm");
  std::string line =
      fmt::format("  {}: {} kernels, mean gain x{:.3f}", name.empty() ? "built-in words" : name,
                  arm.at("kernels").get<std::int64_t>(), arm.at("mean_gain").get<double>());
  if (!arm.at("low").is_null()) {
    line += fmt::format(" (x{:.3f} to x{:.3f})", arm.at("low").get<double>(),
                        arm.at("high").get<double>());
  }
  return line + "\n";
}

std::string role_score_text(const json& role) {
  if (role.contains("directions")) {
    return role["directions"].is_null()
               ? "no prediction was measured yet"
               : fmt::format("right direction {} of {}, {}; median error of the size {:.0f} points",
                             role["directions"]["count"].get<std::int64_t>(),
                             role["directions"]["of"].get<std::int64_t>(),
                             percent_text(role["directions"]),
                             role["median_error_pct"].get<double>());
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
                             scores["measured"].get<std::int64_t>(), scores["score"].get<double>(),
                             scores["model_free"].get<double>());
  }
  return "";
}

std::string verifier_lines(const json& answers) {
  return fmt::format("verifier: accepted {} correct and {} failing kernels; rejected {}, of which "
                     "{} ran as an audit: {} failed\n",
                     answers.at("accepted_correct").get<std::int64_t>(),
                     answers.at("accepted_failed").get<std::int64_t>(),
                     answers.at("rejected").get<std::int64_t>(),
                     answers.at("audited_correct").get<std::int64_t>() +
                         answers.at("audited_failed").get<std::int64_t>(),
                     answers.at("audited_failed").get<std::int64_t>());
}

/// "  gemm_f32/forecast/2, candidate 7: likely 1.1x to 1.25x; measured 1.180x, score 0.0313,
/// without a model 0.1250".
std::string forecast_line(const json& forecast) {
  const std::string text = fmt::format(
      "  {}, candidate {}: likely {}; ", forecast.at("key").get<std::string>(),
      forecast.at("candidate_id").get<std::int64_t>(), forecast.at("likely").get<std::string>());
  if (forecast.at("left_out").get<bool>()) {
    return text + "left out\n";
  }
  if (forecast.at("speed").is_null()) {
    return text + "no speed was measured\n";
  }
  return text + fmt::format("measured {:.3f}x{}, score {:.4f}, without a model {:.4f}\n",
                            forecast.at("speed").get<double>(),
                            forecast.at("audit").get<bool>() ? " as an audit" : "",
                            forecast.at("score").get<double>(),
                            forecast.at("model_free").get<double>());
}

std::string forecaster_lines(const json& role) {
  constexpr std::size_t kMostLines = 20;
  const json& scores = role.at("forecast_scores");
  std::string text = fmt::format(
      "forecaster: left out {} kernels; {} improbable ones ran as an audit: {} beat the best "
      "kernel. Speeds as multiples of the parent's:\n",
      scores.at("left_out").get<std::int64_t>(), scores.at("audited").get<std::int64_t>(),
      scores.at("audited_beat").get<std::int64_t>());
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
    text += role.at("role").get<std::string>() + ":\n";
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
  TextTable table;
  table.columns = {{"role"},         {"calls", true},   {"useful", true},
                   {"tokens", true}, {"dollars", true}, {"score"}};
  std::string details;
  for (const json& role : document.at("roles")) {
    details += details_of(role);
    if (!role.contains("calls")) {
      continue;
    }
    const std::int64_t tokens = role.at("prompt_tokens").get<std::int64_t>() +
                                role.at("completion_tokens").get<std::int64_t>();
    table.rows.push_back(
        {role.at("role"), std::to_string(role.at("calls").get<std::int64_t>()),
         std::to_string(role.at("useful").get<std::int64_t>()), std::to_string(tokens),
         role.at("dollars").is_null() ? "unknown"
                                      : number_text(role.at("dollars").get<double>(), 4),
         role_score_text(role)});
  }
  std::string text = table.rows.empty() ? "" : to_aligned_text(table, 0);
  for (const json& moment : document.at("switched_off")) {
    details += fmt::format(
        "{}: the {} was switched off after {} calls: {}\n", moment.at("task").get<std::string>(),
        moment.at("role").get<std::string>(), moment.at("after_calls").get<std::int64_t>(),
        moment.at("reason").get<std::string>());
  }
  return text + details;
}

} // namespace winnow::harness
