#include "agents/prompts/prompts.h"
#include "agents/reply/reply_schema.h"
#include "agents/roles/role_reply.h"
#include "base/error.h"
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

const RoleFacts kFacts{{"time_us", "dram_throughput_pct"}, 20, 3};

json judge_reply() {
  return {{"bottleneck", "DRAM bandwidth"},
          {"evidence", {"dram_throughput_pct"}},
          {"change", "Keep the row in registers."},
          {"effects", {{{"metric", "time_us"}, {"direction", "down"}, {"percent", 30}}}}};
}

json verifier_reply(const std::string& verdict) {
  return {{"verdict", verdict},
          {"findings", {{{"line", 12}, {"reason", "memory"}, {"text", "reads x[n]"}}}}};
}

std::string problem_with(const std::string& op, const std::string& reply) {
  const RoleReply parsed = parse_role_reply(op, reply, kFacts);
  EXPECT_EQ(parsed.advice.empty(), !parsed.problem.empty()) << reply;
  return parsed.problem;
}

/// Of a judge's reply with one member replaced.
std::string judge_problem(const std::string& pointer, const json& value) {
  json reply = judge_reply();
  reply[json::json_pointer(pointer)] = value;
  return problem_with("judge", reply.dump());
}

TEST(RoleReply, IsFoundInAnyWrapping) {
  const std::string object = judge_reply().dump(2);
  for (const std::string& reply :
       {object, "Here it is:\n```json\n" + object + "\n```\nGood luck.", "Sure: " + object + "."}) {
    const RoleReply parsed = parse_role_reply("judge", reply, kFacts);
    EXPECT_EQ(parsed.problem, "") << reply;
    EXPECT_EQ(json::parse(parsed.advice), judge_reply()) << reply;
  }
}

TEST(RoleReply, CountsBehindTheThoughts) {
  const std::string draft =
      std::string("```json\n") + R"({"verdict": "accept", "findings": []})" + "\n```\n";
  const std::string answer = verifier_reply("reject").dump();
  for (const std::string& reply :
       {"<think>First thought:\n" + draft + "No.</think>\n```json\n" + answer + "\n```",
        "<think>It has if (i < n) { ... } and {\"verdict\": ...}.</think>\n" + answer,
        "<|channel|>analysis<|message|>" + draft + "<|end|><|channel|>final<|message|>" + answer,
        "[THINK]" + draft + "[/THINK]" + answer, draft + "No:\n" + answer}) {
    const RoleReply parsed = parse_role_reply("verify", reply, kFacts);
    EXPECT_EQ(parsed.problem, "") << reply;
    EXPECT_EQ(json::parse(parsed.advice).at("verdict"), "reject") << reply;
  }
  EXPECT_THAT(problem_with("verify", "<think>" + draft), HasSubstr("inside the model's thoughts"));
}

TEST(RoleReply, FollowsItsSchema) {
  EXPECT_EQ(schema_violation(role_reply_schema("judge"), judge_reply().dump()), "");
  EXPECT_EQ(schema_violation(role_reply_schema("verify"), verifier_reply("reject").dump()), "");
  EXPECT_EQ(schema_violation(role_reply_schema("meta"), R"({"words": "w"})"), "");
  EXPECT_NE(schema_violation(role_reply_schema("verify"), R"({"verdict": "maybe"})"), "");
  EXPECT_THROW(role_reply_schema("diff"), Error);
  for (const std::string& op : role_operator_names()) {
    EXPECT_EQ(role_reply_schema(op).name, op + "_reply");
  }
}

TEST(RoleReply, MayNameOnlyFactsOfTheRecord) {
  EXPECT_THAT(judge_problem("/evidence/0", "l2_hits"), HasSubstr("no fact 'l2_hits'"));
  EXPECT_THAT(judge_problem("/effects/0/metric", "speed"), HasSubstr("no fact 'speed'"));
}

TEST(RoleReply, OfTheWrongFormIsOfNoUse) {
  EXPECT_THAT(problem_with("judge", ""), HasSubstr("no JSON object"));
  EXPECT_THAT(problem_with("judge", "The kernel is fine."), HasSubstr("no JSON object"));
  EXPECT_THAT(problem_with("judge", "[1, 2]"), HasSubstr("no JSON object"));
  EXPECT_THAT(problem_with("judge", "{}"), HasSubstr("'bottleneck'"));
  EXPECT_THAT(judge_problem("/bottleneck", 7), HasSubstr("'bottleneck'"));
  EXPECT_THAT(judge_problem("/change", "  "), HasSubstr("'change'"));
  EXPECT_THAT(judge_problem("/evidence", json::array()), HasSubstr("'evidence' is no list"));
  EXPECT_THAT(judge_problem("/evidence/0", 7), HasSubstr("'evidence' is no text"));
  EXPECT_THAT(judge_problem("/effects", json::array()), HasSubstr("'effects' is no list"));
  EXPECT_THAT(judge_problem("/effects/0", 1), HasSubstr("'effects' is no object"));
  EXPECT_THAT(judge_problem("/effects/0/direction", "sideways"), HasSubstr("up, down"));
  EXPECT_THAT(judge_problem("/effects/0/percent", "30"), HasSubstr("'percent'"));
  EXPECT_THAT(judge_problem("/effects/0/percent", -30), HasSubstr("'percent'"));
  EXPECT_THAT(judge_problem("/effects/0/percent", 1e300), HasSubstr("'percent'"));
  EXPECT_THAT(problem_with("judge", R"({"bottleneck": "b", "evidence": ["time_us"], "change": "c",
      "effects": [{"metric": "time_us", "direction": "up", "percent": 1e999}]})"),
              testing::Not(IsEmpty()));
}

TEST(RoleReply, HostileTextIsNoDanger) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(problem_with("judge", deep), HasSubstr("no JSON object"));
  EXPECT_THAT(problem_with("judge", "{\"bottleneck\":" + deep + "}"), HasSubstr("no JSON object"));
  EXPECT_THAT(problem_with("verify", std::string(kMaxRoleReplyBytes + 1, '{')),
              HasSubstr("more than"));
  json reply = judge_reply();
  reply["change"] = std::string(100'000, 'x');
  reply["extra"] = "dropped";
  const json advice = json::parse(parse_role_reply("judge", reply.dump(), kFacts).advice);
  EXPECT_LE(advice["change"].get<std::string>().size(), kMaxRoleTextBytes + 3);
  EXPECT_FALSE(advice.contains("extra"));
  const RoleReply invalid =
      parse_role_reply("meta", "{\"words\": \"\xff\xfe use float4\"}", kFacts);
  EXPECT_FALSE(find_invalid_utf8(invalid.advice));
}

TEST(RoleReply, AVerifierPointsAtLinesThatExist) {
  for (const char* verdict : {"accept", "reject"}) {
    const RoleReply parsed = parse_role_reply("verify", verifier_reply(verdict).dump(), kFacts);
    EXPECT_EQ(json::parse(parsed.advice), verifier_reply(verdict));
  }
  json reply = verifier_reply("reject");
  for (const json& line : {json(0), json(21), json(-1), json("12"), json(1e30)}) {
    reply["findings"][0]["line"] = line;
    EXPECT_THAT(problem_with("verify", reply.dump()), HasSubstr("no line")) << line;
  }
  reply = verifier_reply("reject");
  reply["findings"] = json::array();
  EXPECT_THAT(problem_with("verify", reply.dump()), HasSubstr("'findings'"));
  reply = verifier_reply("maybe");
  EXPECT_THAT(problem_with("verify", reply.dump()), HasSubstr("accept, reject"));
  reply = verifier_reply("reject");
  reply["findings"][0]["reason"] = "taste";
  EXPECT_THAT(problem_with("verify", reply.dump()), HasSubstr("compile, plan"));
}

json forecaster_reply(const json& chances) {
  return {{"chances", chances}, {"reason", "The loads are coalesced now."}};
}

TEST(RoleReply, AForecasterGivesEachBinAChance) {
  const json sure = forecaster_reply({0.25, 0.5, 0.25});
  EXPECT_EQ(schema_violation(role_reply_schema("forecast"), sure.dump()), "");
  EXPECT_EQ(json::parse(parse_role_reply("forecast", sure.dump(), kFacts).advice), sure);
  const json nearly = forecaster_reply({0, 0.4, 0.4});
  const json advice =
      json::parse(parse_role_reply("forecast", nearly.dump(), kFacts).advice).at("chances");
  EXPECT_EQ(advice, json({0.0, 0.5, 0.5})) << "divided by the sum";
}

TEST(RoleReply, ChancesThatAreNoDistributionAreOfNoUse) {
  const std::vector<std::pair<json, std::string>> bad{
      {{0.5, 0.5}, "3 to 3 entries"},
      {{0.25, 0.25, 0.25, 0.25}, "3 to 3 entries"},
      {json::array(), "3 to 3 entries"},
      {"all", "3 to 3 entries"},
      {nullptr, "3 to 3 entries"},
      {{20, 60, 20}, "no number from 0 to 1"},
      {{-0.5, 0.75, 0.75}, "no number from 0 to 1"},
      {{0.5, "0.25", 0.25}, "no number from 0 to 1"},
      {{0.5, nullptr, 0.5}, "no number from 0 to 1"},
      {{0.5, 1e300, 0.5}, "no number from 0 to 1"},
      {{0, 0, 0}, "the sum of 'chances' is 0.00, not 1"},
      {{1, 1, 1}, "the sum of 'chances' is 3.00, not 1"}};
  for (const auto& [chances, problem] : bad) {
    EXPECT_THAT(problem_with("forecast", forecaster_reply(chances).dump()), HasSubstr(problem))
        << chances;
  }
  EXPECT_THAT(problem_with("forecast", R"({"chances": [1, 0, 0]})"), HasSubstr("'reason'"));
  EXPECT_THAT(problem_with("forecast", R"({"chances": [1, NaN, 0], "reason": "x"})"),
              HasSubstr("no JSON object"));
}

TEST(RoleReply, OfAMetaPrompterIsCut) {
  const std::string words(10'000, 'w');
  const json advice =
      json::parse(parse_role_reply("meta", json{{"words", words}}.dump(), {}).advice);
  EXPECT_LE(advice["words"].get<std::string>().size(), kMaxGuideBytes + 3);
  EXPECT_THAT(problem_with("meta", R"({"words": ""})"), HasSubstr("'words'"));
}

TEST(RoleReply, AdviceInWordsNamesAllParts) {
  EXPECT_EQ(advice_in_words(judge_reply().dump()),
            "Bottleneck: DRAM bandwidth\nEvidence: dram_throughput_pct\n"
            "Change: Keep the row in registers.\nExpected effect: time_us down by 30 %\n");
}

} // namespace
} // namespace winnow::agents
