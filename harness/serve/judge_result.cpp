#include "harness/serve/judge_result.h"

#include "agents/prompts/prompts.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/brief/result_parts.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using tasks::Evaluation;
using tasks::Stage;
using tasks::Verdict;

bool is_only_compiled(JudgeDepth depth) {
  return depth == JudgeDepth::Compile;
}

json race_json(const Evaluation& evaluation) {
  if (!evaluation.race) {
    return nullptr;
  }
  return {{"verdict", evaluation.race->verdict},
          {"ratio", known(evaluation.race->ratio.value_or(0))},
          {"low", evaluation.race->bounds.low},
          {"high", evaluation.race->bounds.high}};
}

void add_reward(json& result, const std::string& stored, const RewardFacts& facts) {
  const RewardFormula formula = reward_from_stored(stored);
  const Reward reward = reward_of(formula, facts);
  result["reward"] = reward.value;
  result["reward_terms"] = {{"preset", formula.name}};
  for (const auto& [name, value] : reward.terms) {
    result["reward_terms"][name] = value;
  }
}

/// What went wrong in the machine, without its files.
std::string without_paths(const std::string& text) {
  std::string shown;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool is_path = word.size() > 1 && word.find('/') != std::string::npos;
    shown += (shown.empty() ? "" : " ") + (is_path ? std::string("[a file]") : word);
    begin = end + 1;
  }
  return shown;
}

/// A verdict that says nothing about the kernel.
std::string fault_of(const store::JudgeItemRow& item, const Evaluation* evaluation) {
  if (!item.fault.empty()) {
    return item.fault;
  }
  return evaluation->verdict == Verdict::Unsupported ? "unsupported" : "";
}

} // namespace

RewardFacts reward_facts(const Evaluation& evaluation, JudgeDepth depth) {
  RewardFacts facts;
  facts.parsed = evaluation.stage > Stage::Parse;
  facts.compiled = is_compiled(evaluation, is_only_compiled(depth));
  facts.correct = evaluation.verdict == Verdict::Correct;
  facts.progress = progress_of(evaluation, is_only_compiled(depth));
  // A kernel that is slower than the baseline at hidden shapes earns nothing for speed at shown
  // ones.
  const double most = evaluation.promoted ? std::numeric_limits<double>::infinity() : 1;
  facts.speedup = std::min(evaluation.speedup, most);
  facts.speedup_low = std::min(evaluation.speedup_bounds.low, most);
  return facts;
}

json result_json(const store::JudgeItemRow& item, const JobFacts& job,
                 const Evaluation* evaluation) {
  json result = {{"id", item.item},
                 {"job", item.job},
                 {"place", item.place},
                 {"candidate", item.candidate},
                 {"state", "done"},
                 {"task", job.task},
                 {"task_digest", job.task_digest},
                 {"depth", to_string(job.depth)},
                 {"cached", item.cached},
                 {"queued_seconds", item.queued_seconds},
                 {"reward", nullptr},
                 {"reward_terms", nullptr},
                 {"fault", nullptr}};
  const std::string fault = fault_of(item, evaluation);
  if (!fault.empty()) { // "infrastructure: the device was lost"
    const std::size_t colon = std::min(fault.find(": "), fault.size());
    result["fault"] = fault.substr(0, colon);
    result["detail"] =
        without_paths(to_valid_utf8(fault.substr(std::min(colon + 2, fault.size()))));
  }
  if (evaluation == nullptr) {
    return result;
  }
  const RewardFacts facts = reward_facts(*evaluation, job.depth);
  result.update({{"verdict", to_string(evaluation->verdict)},
                 {"stage", to_string(evaluation->stage)},
                 {"detail", shown_detail(*evaluation)},
                 {"parsed", facts.parsed},
                 {"compiled", facts.compiled},
                 {"correct", facts.correct},
                 {"promoted", facts.correct && evaluation->promoted},
                 {"progress", facts.progress},
                 {"speedup", speedup_json(*evaluation, job.versus)},
                 {"time_ns", known(evaluation->score_ns)},
                 {"speed_of_light", job.speed_of_light ? json(*job.speed_of_light) : json()},
                 {"race", job.has_rival ? race_json(*evaluation) : json()},
                 {"parameters", evaluation->parameters},
                 {"shapes", shapes_json(*evaluation)},
                 {"feedback", to_valid_utf8(agents::feedback_text(*evaluation, job.versus))},
                 {"machine_code_digest", evaluation->build.machine_code_digest},
                 {"findings", findings_json(*evaluation)},
                 {"device", evaluation->device},
                 {"device_name", evaluation->device_name},
                 {"isolation", evaluation->isolation},
                 {"evaluator_version", evaluation->evaluator_version},
                 {"seconds", evaluation->seconds}});
  if (fault.empty()) {
    add_reward(result, item.reward, facts);
  }
  return result;
}

using nlohmann::json;

namespace {

json optional_json(const std::optional<std::uint64_t>& number) {
  return number ? json(*number) : json();
}

/// nullopt as well if the key is absent: earlier versions did not write all.
std::optional<std::uint64_t> optional_number(const json& document, const char* key) {
  const json number = document.value(key, json());
  return number.is_null() ? std::nullopt : std::optional(number.get<std::uint64_t>());
}

} // namespace

std::string encoded(const JobOptions& options) {
  return json_line({{"hidden_draw", optional_json(options.hidden_draw)},
                    {"hidden_sizes", optional_json(options.hidden_sizes)},
                    {"parameters", options.parameters},
                    {"counters", options.measuring.counters},
                    {"energy", options.measuring.energy},
                    {"time_budget_ms", options.measuring.time_budget.count()},
                    {"task", options.task},
                    {"task_digest", options.task_digest},
                    {"depth", to_string(options.depth)},
                    {"fresh", options.fresh},
                    {"rival", options.rival},
                    {"max_variants", options.max_variants},
                    {"seed", optional_json(options.seed)}});
}

JobOptions decoded(const std::string& text) {
  const json document = json::parse(text);
  return {document.at("task").get<std::string>(),
          document.at("task_digest").get<std::string>(),
          depth_from_string(document.at("depth").get<std::string>()),
          document.at("fresh").get<bool>(),
          document.at("rival").get<store::RowId>(),
          document.value("max_variants", std::size_t{1}),
          optional_number(document, "seed"),
          document.value("parameters", tasks::ParameterChoice{}),
          {document.value("counters", "off"), document.value("energy", false),
           std::chrono::milliseconds(document.value("time_budget_ms", 0))},
          optional_number(document, "hidden_draw"),
          optional_number(document, "hidden_sizes")};
}

} // namespace winnow::harness
