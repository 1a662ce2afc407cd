#include "agents/prompts/prompts.h"
#include "base/error.h"
#include "base/files.h"
#include "harness/run/session.h"
#include "harness/suite/suite_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

tasks::SuiteTask suite_task(const std::string& name) {
  tasks::SuiteTask one;
  one.task.name = name;
  one.task.digest = "digest of " + name;
  return one;
}

RunConfig bench_config(const std::string& model, const std::string& strategy) {
  RunConfig config;
  config.endpoint.model = model;
  config.strategy = strategy;
  config.evaluation.device = "cpu";
  return config;
}

class SuitePlan : public testing::Test {
protected:
  /// Stores a run as a bench begins it.
  void begin(const std::string& name, const RunConfig& config, const std::string& status,
             const std::vector<std::string>& tasks = {"a", "b"}) {
    json stored = config_to_json(config);
    for (const std::string& task : tasks) {
      stored["resolved"]["tasks"][task] = "digest of " + task;
    }
    store_.set_run_status(store_.create_run(name, stored, json::object()), status);
  }
  std::string begun(const RunConfig& config) const {
    const auto run = begun_run(store_, config, suite_);
    return run ? run->name : "none";
  }
  std::string replies_of(const std::string& recording) const {
    RunConfig config = bench_config("recorded", "one-plus-one");
    config.endpoint.kind = "replay";
    config.endpoint.file = (folder_.path() / "recorded.jsonl").string();
    write_file_atomic(config.endpoint.file, recording);
    try {
      return missing_replies(config, suite_);
    } catch (const UsageError& error) {
      return std::string("error: ") + error.what();
    }
  }

  TemporaryDirectory folder_{"suite-plan-test"};
  store::RunStore store_{folder_.path() / "store.db", store::RunStore::Mode::ReadWrite};
  std::vector<tasks::SuiteTask> suite_{suite_task("a"), suite_task("b")};
};

TEST_F(SuitePlan, RunsHaveAModelAndAStrategyOfTheirOwn) {
  const RunConfig one = bench_config("x", "archive"), other = bench_config("y", "archive");
  EXPECT_NO_THROW(check_distinct_runs({one, other, bench_config("x", "best-of-n")}));
  try {
    check_distinct_runs({one, other, bench_config("x", "archive")});
    FAIL() << "the third row would look like the first";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("model 'x' and the strategy 'archive'"));
    EXPECT_THAT(error.remedy(), HasSubstr("rename one of two recordings"));
  }
}

TEST_F(SuitePlan, FindsTheRunThatBeganTheSameSearch) {
  const RunConfig config = bench_config("x", "archive");
  EXPECT_EQ(begun(config), "none");
  begin("first", config, "finished");
  begin("second", config, "interrupted");
  begin("of y", bench_config("y", "archive"), "interrupted");
  EXPECT_EQ(begun(config), "second") << "the newest one";
  EXPECT_EQ(begun(bench_config("y", "archive")), "of y");
  EXPECT_EQ(begun(bench_config("z", "archive")), "none");
  EXPECT_EQ(begun(bench_config("x", "best-of-n")), "none");
}

TEST_F(SuitePlan, OnlyLimitsNamesAndTheDeviceMayDiffer) {
  RunConfig config = bench_config("x", "archive");
  begin("run", config, "interrupted");
  config.name = "other";
  config.limits.calls = 7;
  config.endpoint.parallel = 3;
  config.evaluation.device = "best";
  EXPECT_EQ(begun(config), "run");
  config.evaluation.device = "cuda";
  EXPECT_EQ(begun(config), "none");
  config.evaluation.device = "cpu";
  config.proposals += 1;
  EXPECT_EQ(begun(config), "none");
}

TEST_F(SuitePlan, TheTemplatesAreTheSame) {
  RunConfig config = bench_config("m", "archive");
  config.prompts = folder_.path().string();
  const auto write = [&](const std::string& text) {
    write_file_atomic(folder_.path() / "question_improve.md", text);
  };
  write("first");
  json stored = config_to_json(config);
  stored["resolved"]["tasks"] = {{"a", "digest of a"}, {"b", "digest of b"}};
  stored["resolved"]["prompts"] = agents::own_templates(config.prompts);
  store_.create_run("first", stored, json::object());
  EXPECT_EQ(begun(config), "first");
  write("second");
  EXPECT_EQ(begun(config), "none");
}

TEST_F(SuitePlan, TheTasksAreTheSame) {
  const RunConfig config = bench_config("x", "archive");
  begin("more", config, "interrupted", {"a", "b", "c"});
  begin("fewer", config, "interrupted", {"a"});
  store_.create_run("person", config_of_person(), json::object());
  store_.create_run("serve", config_of_server(), json::object());
  EXPECT_EQ(begun(config), "none");
  suite_[1].task.torch = tasks::TorchReference{};
  EXPECT_EQ(begun(config), "fewer") << "without PyTorch a run leaves such tasks out";
  suite_[0].task.digest = "of a later revision";
  EXPECT_EQ(begun(config), "none");
}

TEST_F(SuitePlan, ARecordingMayLackTasks) {
  const auto line = [](const std::string& key) {
    return R"({"schema": "winnow.call", "version": 1, "reply": "", "key": ")" + key + "\"}\n";
  };
  EXPECT_EQ(replies_of(line("a/0/0") + line("b/0/0")), "");
  EXPECT_EQ(replies_of(line("a/0/0")),
            "the recording 'recorded' has no reply for 1 of 2 tasks (they count as wrong): b");
  EXPECT_THAT(replies_of(line("ab/0/0")),
              HasSubstr("error: the recording 'recorded' has no reply for any task of the suite"));
  EXPECT_THAT(replies_of("{]"), AllOf(HasSubstr("error: "), HasSubstr("recorded.jsonl:1")));
  RunConfig live = bench_config("x", "archive");
  live.endpoint.kind = "chat";
  EXPECT_EQ(missing_replies(live, suite_), "") << "no recording";
}

} // namespace
} // namespace winnow::harness
