#include "agents/roles/role_reply.h"

#include "agents/json/json_text.h"
#include "agents/reply/read_reply.h"
#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;

constexpr std::size_t kMostEvidence = 6;
constexpr std::size_t kMostEffects = 4;
constexpr std::size_t kMostFindings = 10;
constexpr double kMostPercent = 10'000;
// The sums that models gave in published logs of GPU Forecasters were 0.75 to 1.10.
constexpr double kLeastSum = 0.75, kMostSum = 1.25;

/// Why a reply is of no use.
struct Useless {
  std::string problem;
};

/// The object that the answer ends with: thoughts and earlier drafts count for nothing.
json object_of(std::string_view reply, const char* member) {
  if (reply.size() > kMaxRoleReplyBytes) {
    throw Useless{fmt::format("the reply has more than {} KiB", kMaxRoleReplyBytes >> 10U)};
  }
  const Reply read = read_reply(reply, "");
  if (!read.open_thoughts.empty()) {
    throw Useless{"the reply ends inside the model's thoughts"};
  }
  std::vector<json> objects = json_objects(read);
  if (objects.empty()) {
    throw Useless{"the reply has no JSON object"};
  }
  const auto last = std::find_if(objects.rbegin(), objects.rend(),
                                 [&](const json& object) { return object.contains(member); });
  return std::move(last == objects.rend() ? objects.back() : *last);
}

/// The member without which a reply says nothing.
const char* main_member(std::string_view op) {
  return op == "judge"      ? "bottleneck"
         : op == "verify"   ? "verdict"
         : op == "forecast" ? "chances"
                            : "words";
}

std::string text_of(const json& object, const char* name, std::size_t most = kMaxRoleTextBytes) {
  const std::string text(trim(to_valid_utf8(text_member(object, name))));
  if (text.empty()) {
    throw Useless{fmt::format("'{}' is missing, or no text", name)};
  }
  return shortened(text, most);
}

std::string one_of(const json& object, const char* name, const std::vector<std::string>& words) {
  const std::string word = text_member(object, name);
  if (!contains(words, word)) {
    throw Useless{fmt::format("'{}' is none of: {}", name, join(words, ", "))};
  }
  return word;
}

const json& list_of(const json& object, const char* name, std::size_t least, std::size_t most) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array() || found->size() < least ||
      found->size() > most) {
    throw Useless{fmt::format("'{}' is no list of {} to {} entries", name, least, most)};
  }
  return *found;
}

void require_metric(const std::string& name, const RoleFacts& facts) {
  if (!contains(facts.metrics, name)) {
    throw Useless{fmt::format("the kernel's record has no fact '{}'", shortened(name, 80))};
  }
}

json effect_of(const json& effect, const RoleFacts& facts) {
  if (!effect.is_object()) {
    throw Useless{"an entry of 'effects' is no object"};
  }
  const std::string metric = text_of(effect, "metric");
  require_metric(metric, facts);
  const double percent = number_member(effect, "percent", std::nan(""));
  if (!(percent > 0 && percent <= kMostPercent)) {
    throw Useless{fmt::format("'percent' of {} is not between 0 and {}", metric, kMostPercent)};
  }
  return {{"metric", metric},
          {"direction", one_of(effect, "direction", {"up", "down"})},
          {"percent", percent}};
}

json judge_advice(const json& reply, const RoleFacts& facts) {
  json advice{{"bottleneck", text_of(reply, "bottleneck")},
              {"evidence", json::array()},
              {"change", text_of(reply, "change")},
              {"effects", json::array()}};
  for (const json& name : list_of(reply, "evidence", 1, kMostEvidence)) {
    if (!name.is_string()) {
      throw Useless{"an entry of 'evidence' is no text"};
    }
    require_metric(name.get<std::string>(), facts);
    advice["evidence"].push_back(name);
  }
  for (const json& effect : list_of(reply, "effects", 1, kMostEffects)) {
    advice["effects"].push_back(effect_of(effect, facts));
  }
  return advice;
}

json finding_of(const json& finding, const RoleFacts& facts) {
  if (!finding.is_object()) {
    throw Useless{"an entry of 'findings' is no object"};
  }
  const std::int64_t line = count_member(finding, "line");
  if (line < 1 || line > static_cast<std::int64_t>(facts.lines)) {
    throw Useless{fmt::format("the file has no line {}", line)};
  }
  return {{"line", line},
          {"reason", one_of(finding, "reason", {"compile", "plan", "memory", "race", "numerics"})},
          {"text", text_of(finding, "text")}};
}

json verifier_advice(const json& reply, const RoleFacts& facts) {
  json advice{{"verdict", one_of(reply, "verdict", {"accept", "reject"})},
              {"findings", json::array()}};
  const bool rejects = advice["verdict"] == "reject";
  for (const json& finding : list_of(reply, "findings", rejects ? 1 : 0, kMostFindings)) {
    advice["findings"].push_back(finding_of(finding, facts));
  }
  return advice;
}

json forecaster_advice(const json& reply, const RoleFacts& facts) {
  std::vector<double> chances;
  double sum = 0;
  for (const json& chance : list_of(reply, "chances", facts.bins, facts.bins)) {
    if (!chance.is_number() || !(chance.get<double>() >= 0 && chance.get<double>() <= 1)) {
      throw Useless{"an entry of 'chances' is no number from 0 to 1"};
    }
    sum += chances.emplace_back(chance.get<double>());
  }
  if (!(sum >= kLeastSum && sum <= kMostSum)) {
    throw Useless{fmt::format("the sum of 'chances' is {:.2f}, not 1", sum)};
  }
  for (double& chance : chances) {
    chance /= sum;
  }
  return {{"chances", chances}, {"reason", text_of(reply, "reason")}};
}

json advice_of(std::string_view op, const json& reply, const RoleFacts& facts) {
  if (op == "judge") {
    return judge_advice(reply, facts);
  }
  if (op == "verify") {
    return verifier_advice(reply, facts);
  }
  if (op == "forecast") {
    return forecaster_advice(reply, facts);
  }
  return {{"words", text_of(reply, "words", kMaxGuideBytes)}};
}

} // namespace

RoleReply parse_role_reply(std::string_view op, std::string_view reply, const RoleFacts& facts) {
  role_reply_schema(op); // throws for an operator of no role
  try {
    return {advice_of(op, object_of(reply, main_member(op)), facts).dump(), {}};
  } catch (const Useless& useless) {
    return {{}, to_valid_utf8(useless.problem)};
  }
}

std::string advice_in_words(std::string_view advice) {
  const json parsed = json::parse(advice);
  std::vector<std::string> evidence = parsed.at("evidence");
  std::vector<std::string> effects;
  for (const json& effect : parsed.at("effects")) {
    effects.push_back(fmt::format("{} {} by {:g} %", effect.at("metric").get<std::string>(),
                                  effect.at("direction").get<std::string>(),
                                  effect.at("percent").get<double>()));
  }
  return fmt::format("Bottleneck: {}\nEvidence: {}\nChange: {}\nExpected effect: {}\n",
                     parsed.at("bottleneck").get<std::string>(), join(evidence, ", "),
                     parsed.at("change").get<std::string>(), join(effects, ", "));
}

namespace {

// "strict": all properties are required, and there are no others.
const std::map<std::string, std::string, std::less<>> kSchemas{
    {"judge", R"({"type": "object", "additionalProperties": false,
  "required": ["bottleneck", "evidence", "change", "effects"],
  "properties": {
    "bottleneck": {"type": "string"},
    "evidence": {"type": "array", "items": {"type": "string"}},
    "change": {"type": "string"},
    "effects": {"type": "array", "items": {"type": "object", "additionalProperties": false,
      "required": ["metric", "direction", "percent"],
      "properties": {"metric": {"type": "string"},
                     "direction": {"type": "string", "enum": ["up", "down"]},
                     "percent": {"type": "number"}}}}}})"},
    {"verify", R"({"type": "object", "additionalProperties": false,
  "required": ["verdict", "findings"],
  "properties": {
    "verdict": {"type": "string", "enum": ["accept", "reject"]},
    "findings": {"type": "array", "items": {"type": "object", "additionalProperties": false,
      "required": ["line", "reason", "text"],
      "properties": {"line": {"type": "integer"},
                     "reason": {"type": "string",
                                "enum": ["compile", "plan", "memory", "race", "numerics"]},
                     "text": {"type": "string"}}}}}})"},
    {"forecast", R"({"type": "object", "additionalProperties": false,
  "required": ["chances", "reason"],
  "properties": {
    "chances": {"type": "array", "items": {"type": "number"}},
    "reason": {"type": "string"}}})"},
    {"meta", R"({"type": "object", "additionalProperties": false, "required": ["words"],
  "properties": {"words": {"type": "string"}}})"}};

} // namespace

ReplySchema role_reply_schema(std::string_view op) {
  const auto found = kSchemas.find(op);
  if (found == kSchemas.end()) {
    throw Error("no role has the operator '" + std::string(op) + "'");
  }
  return {found->first + "_reply", found->second};
}

} // namespace winnow::agents
