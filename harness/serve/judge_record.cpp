#include "harness/serve/judge_record.h"

#include "base/error.h"
#include "base/json_dump.h"

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
    return record;
  } catch (const json::exception&) {
    throw Error("the server's record of an evaluation is malformed",
                "use the same Winnow on both sides");
  }
}

} // namespace winnow::harness
