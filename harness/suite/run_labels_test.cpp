#include "harness/config/config.h"
#include "harness/suite/suite_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ComparedRun labelled_run(const std::string& name, const RunConfig& config,
                         const json& resolved = {}) {
  json stored = config_to_json(config);
  stored["resolved"] = resolved.is_null() ? json::object() : resolved;
  return {name, "m, best-of-n", run_settings(stored)};
}

TEST(RunLabels, NameWhatDiffersBetweenRunsOfAModelAndAStrategy) {
  RunConfig plain, tuned;
  tuned.max_variants = 8;
  EXPECT_THAT(distinctions({labelled_run("a", plain), labelled_run("b", tuned)}),
              ElementsAre("run.max_variants=32", "run.max_variants=8"));
  ComparedRun other = labelled_run("b", tuned);
  other.base = "other, best-of-n";
  EXPECT_THAT(distinctions({labelled_run("a", plain), other}), ElementsAre("", ""));
}

TEST(RunLabels, NameThePromptFiles) {
  RunConfig plain, own;
  own.prompts = "/home/somebody/mine";
  const auto with = [](const std::string& digest) {
    return json{{"prompts", {{"question_improve.md", digest}}}};
  };
  const auto texts = distinctions({labelled_run("a", plain), labelled_run("b", own, with("1")),
                                   labelled_run("c", own, with("2"))});
  EXPECT_EQ(texts[0], "built-in prompts");
  EXPECT_THAT(texts[1], HasSubstr("prompts mine/question_improve.md ("));
  EXPECT_NE(texts[1], texts[2]) << "the file has changed between the runs";
  EXPECT_THAT(texts[1], Not(HasSubstr("somebody")));
  EXPECT_THAT(distinctions({labelled_run("a", plain), labelled_run("b", own)}),
              ElementsAre("built-in prompts", "prompts mine/"))
      << "of an earlier version";
  EXPECT_EQ(distinctions({labelled_run("b", own, with("1"))}), std::vector{texts[1]})
      << "a run alone says which templates it had";
}

TEST(RunLabels, AreNeverEqualAndShowNoSecret) {
  RunConfig one, two;
  EXPECT_THAT(distinctions({labelled_run("a", one), labelled_run("b", two)}),
              ElementsAre("run a", "run b"));
  two.endpoint.base_url = "https://secret.example";
  EXPECT_THAT(distinctions({labelled_run("a", one), labelled_run("b", two)}),
              ElementsAre("other endpoint.base_url, run a", "other endpoint.base_url, run b"));
  EXPECT_THAT(distinctions({labelled_run("a", one, {{"device_name", "H100"}}),
                            labelled_run("b", one, {{"device_name", "H200"}})}),
              ElementsAre("on H100", "on H200"));
}

} // namespace
} // namespace winnow::harness
