#include "base/error.h"
#include "tasks/result/evaluation_codec.h"
#include "tasks/result/testing/full_evaluation_fake.h"

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using Json = nlohmann::json;

Evaluation decoded(const Json& json) {
  Evaluation evaluation;
  read_json(json, "evaluation", evaluation);
  return evaluation;
}

std::string error_of(const Json& json) {
  try {
    decoded(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

/// Paths of all values that are no object and no list; a list counts as its first element.
void add_leaves(const Json& json, const std::string& path, std::map<std::string, Json>& leaves) {
  if (json.is_object() && !json.empty()) {
    for (const auto& [key, value] : json.items()) {
      add_leaves(value, path + "/" + key, leaves);
    }
  } else if (json.is_array() && !json.empty()) {
    add_leaves(json.front(), path + "/0", leaves);
  } else {
    leaves[path] = json;
  }
}

TEST(EvaluationCodec, LosesNothing) {
  const Json json = write_json(test::full_evaluation());
  const Json through_text = Json::parse(json.dump());
  EXPECT_EQ(write_json(decoded(through_text)), json);
}

TEST(EvaluationCodec, ARaceMayHaveAnIntervalWithoutEnd) {
  Evaluation evaluation;
  evaluation.race = {"d3", "faster", 1.2, {1.1, std::numeric_limits<double>::infinity()}, 1};
  Evaluation read;
  read_json(write_json(evaluation), "evaluation", read);
  EXPECT_EQ(read.race->bounds.high, evaluation.race->bounds.high);
}

// The list of fields cannot lack one, or it does not compile. This test finds a field that the full
// evaluation leaves at its default.
TEST(EvaluationCodec, TheFullEvaluationFillsEveryField) {
  Evaluation blank;
  CaseResult& blank_case = blank.cases.emplace_back();
  blank_case.mismatch.emplace();
  blank_case.libraries.emplace_back();
  blank.race.emplace();
  blank.build.kernels.emplace_back();
  blank.build.findings.emplace_back();
  blank.build.features.emplace_back();
  std::map<std::string, Json> full, empty;
  add_leaves(write_json(test::full_evaluation()), "", full);
  add_leaves(write_json(blank), "", empty);
  EXPECT_EQ(full.size(), 99U);
  for (const auto& [path, value] : empty) {
    EXPECT_TRUE(!full.contains(path) || full[path] != value) << path << " is " << value;
  }
}

TEST(EvaluationCodec, KeepsNumbersThatAreNone) {
  Evaluation evaluation = test::full_evaluation();
  evaluation.cases[0].mismatch->got = std::nan("");
  evaluation.cases[0].mismatch->expected = -INFINITY;
  evaluation.cases[0].max_error_ratio = INFINITY;
  const Evaluation read = decoded(Json::parse(write_json(evaluation).dump()));
  EXPECT_TRUE(std::isnan(read.cases[0].mismatch->got));
  EXPECT_EQ(read.cases[0].mismatch->expected, -INFINITY);
  EXPECT_EQ(read.cases[0].max_error_ratio, INFINITY);
}

TEST(EvaluationCodec, KeepsTextThatIsNotUtf8) {
  Evaluation evaluation;
  evaluation.detail = std::string("a\xff\x00z", 4);
  EXPECT_EQ(decoded(Json::parse(write_json(evaluation).dump())).detail, evaluation.detail);
}

TEST(EvaluationCodec, NamesWhatIsWrong) {
  const Json good = write_json(test::full_evaluation());
  const auto with = [&good](const char* pointer, Json value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = std::move(value);
    return error_of(bad);
  };
  EXPECT_EQ(error_of(good), "none");
  EXPECT_EQ(error_of(3), "evaluation: expected an object");
  EXPECT_EQ(with("/seconds", "nan"), "evaluation.seconds: expected a finite number");
  EXPECT_EQ(with("/cases/0/samples_ns/1", true),
            "evaluation.cases.0.samples_ns.1: expected a finite number");
  EXPECT_EQ(with("/cases/0/mismatch/got", "many"),
            R"(evaluation.cases.0.mismatch.got: expected a number, "nan", "inf" or "-inf")");
  EXPECT_EQ(with("/race/blocks", 3'000'000'000),
            "evaluation.race.blocks: expected an integer in range");
  EXPECT_EQ(with("/race/blocks", 1.5), "evaluation.race.blocks: expected an integer in range");
  EXPECT_EQ(with("/seed", 7), "evaluation.seed: expected a decimal number up to 2^64 - 1, as text");
  EXPECT_EQ(with("/seed", "18446744073709551616"),
            "evaluation.seed: expected a decimal number up to 2^64 - 1, as text");
  EXPECT_THAT(with("/verdict", "right"),
              testing::StartsWith("evaluation.verdict: expected one of not_judged, bad_reply, "));
  EXPECT_EQ(with("/promoted", 1), "evaluation.promoted: expected true or false");
  EXPECT_EQ(with("/notes", "one"), "evaluation.notes: expected a list");
  EXPECT_EQ(with("/parameters/TILE", "32"),
            "evaluation.parameters.TILE: expected an integer in range");
  EXPECT_EQ(with("/profile", "{"), "evaluation.profile: expected JSON");
  EXPECT_EQ(with("/detail", {{"hex", "f"}}),
            "evaluation.detail.hex: expected two hexadecimal digits for each byte");
  EXPECT_EQ(with("/speed", 1), "evaluation.speed: expected no such key");
  Json incomplete = good;
  incomplete["build"].erase("log");
  EXPECT_EQ(error_of(incomplete), "evaluation.build.log: expected a value; it is missing");
}

TEST(EvaluationCodec, KnowsEveryEnumerator) {
  Evaluation evaluation;
  for (const Verdict verdict : all_verdicts()) {
    evaluation.verdict = verdict;
    EXPECT_EQ(decoded(write_json(evaluation)).verdict, verdict);
  }
  evaluation.stage = Stage::HeldOut;
  evaluation.build.findings = {{FindingKind::LocalMemory, ""}};
  evaluation.cases.emplace_back().set = ShapeSet::HeldOut;
  const Evaluation read = decoded(write_json(evaluation));
  EXPECT_EQ(read.stage, Stage::HeldOut);
  EXPECT_EQ(read.build.findings, evaluation.build.findings);
  EXPECT_EQ(read.cases.at(0).set, ShapeSet::HeldOut);
}

} // namespace
} // namespace winnow::tasks
