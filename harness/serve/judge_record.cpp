#include "harness/serve/judge_record.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "search/log_json.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {

using nlohmann::json;

tasks::Evaluation without_hidden(tasks::Evaluation evaluation) {
  const auto is_hidden = [](const tasks::CaseResult& one) {
    return one.stage == tasks::Stage::Promotion || tasks::is_hidden(one.set);
  };
  std::erase_if(evaluation.cases, is_hidden);
  if (evaluation.verdict == tasks::Verdict::WrongUnseen ||
      evaluation.stage == tasks::Stage::Promotion) {
    evaluation.detail.clear();
  }
  evaluation.hidden_speedup = evaluation.hidden_race_ratio = 0;
  evaluation.build.from_cache = false;
  evaluation.build.seconds = evaluation.build.compiler_ms = evaluation.build.load_ms = 0;
  return evaluation;
}

TunedFamily without_hidden(TunedFamily family) {
  family.of_default = without_hidden(std::move(family.of_default));
  if (family.of_winner) {
    family.of_winner = without_hidden(*std::move(family.of_winner));
  }
  return family;
}

namespace {

std::string written(const TunedFamily& family) {
  evaluators::EvaluationResult judged{"tuning", "", {family.of_default}, ""};
  if (family.of_winner) {
    judged.evaluations.push_back(*family.of_winner);
  }
  return "{\"trials\":" + json_line(family.trials) +
         ",\"device_seconds\":" + json_line(family.device_seconds) +
         ",\"evaluations\":" + evaluators::encode(judged) + "}";
}

TunedFamily read_family(const json& document) {
  TunedFamily family;
  auto judged = evaluators::decode_evaluation_result(document.at("evaluations").dump()).evaluations;
  family.of_default = std::move(judged.at(0));
  if (judged.size() > 1) {
    family.of_winner = std::move(judged[1]);
  }
  document.at("trials").get_to(family.trials);
  document.at("device_seconds").get_to(family.device_seconds);
  return family;
}

} // namespace

std::string written(const JudgeRecord& record) {
  json light = {{"by_shape", record.light.by_shape}};
  light["mean"] = record.light.mean ? json(*record.light.mean) : json();
  json account;
  if (record.account) {
    account = {{"evaluations", record.account->evaluations},
               {"hidden_answers", record.account->hidden_answers},
               {"most", record.account->most.value_or(0)}};
  }
  return "{\"light\":" + json_line(light) + ",\"account\":" + json_line(account) +
         ",\"tuning\":" + (record.tuning ? written(*record.tuning) : "null") +
         ",\"evaluation\":" + evaluators::encode(record.result) + "}";
}

JudgeRecord read_record(const std::string& text) {
  try {
    const json document = json::parse(text);
    const json& light = document.at("light");
    JudgeRecord record;
    record.result = evaluators::decode_evaluation_result(document.at("evaluation").dump());
    light.at("by_shape").get_to(record.light.by_shape);
    if (!light.at("mean").is_null()) {
      record.light.mean = light.at("mean").get<double>();
    }
    if (const json& account = document.at("account"); !account.is_null()) {
      record.account = {0, account.at("evaluations").get<std::size_t>(),
                        account.at("hidden_answers").get<std::size_t>(),
                        account.at("most").get<std::size_t>()};
    }
    if (const json& tuning = document.at("tuning"); !tuning.is_null()) {
      record.tuning = read_family(tuning);
    }
    return record;
  } catch (const json::exception&) {
    throw Error("the server's record of an evaluation is malformed",
                "use the same Winnow on both sides");
  }
}

} // namespace winnow::harness
