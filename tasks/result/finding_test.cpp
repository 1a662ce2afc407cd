#include "base/error.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/finding.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

const std::vector<Finding> kAll{{FindingKind::LocalMemory, "k: 16 bytes"},
                                {FindingKind::ClockRead, "k"},
                                {FindingKind::MutableGlobal, "counter (4 bytes)"},
                                {FindingKind::MutableGlobal, "last (8 bytes)"}};

TEST(Finding, AnnotatesEachSuspectKindOnce) {
  EXPECT_EQ(annotations(kAll), "keeps state, reads the clock");
  EXPECT_EQ(annotations({{FindingKind::Nanosleep, ""}, {FindingKind::GlobalTimerRead, ""}}),
            "reads the global timer, sleeps");
  EXPECT_EQ(annotations({kAll[0]}), "");
  EXPECT_EQ(annotations({}), "");
}

TEST(Finding, SurvivesJson) {
  const nlohmann::json json(kAll);
  EXPECT_EQ(json[1].dump(), R"({"detail":"k","kind":"clock_read"})");
  EXPECT_EQ(json.get<std::vector<Finding>>(), kAll);
  EXPECT_THROW((nlohmann::json{{"kind", "rain"}, {"detail", ""}}.get<Finding>()), Error);
}

TEST(Finding, IsPartOfThePublicForm) {
  Evaluation evaluation;
  evaluation.build.findings = {kAll[1]};
  evaluation.build.compiler_ms = 41.5;
  const nlohmann::json build = evaluation_json(evaluation).at("build");
  EXPECT_EQ(build.at("findings").dump(), R"([{"detail":"k","kind":"clock_read"}])");
  EXPECT_EQ(build.at("compiler_ms"), 41.5);
}

} // namespace
} // namespace winnow::tasks
