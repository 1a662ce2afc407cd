// The prompts of roles, and what roles add to the prompts of kernels.
#include "agents/prompts/prompt_recipe.h"
#include "base/error.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;
using testing::Not;

tasks::CaseResult role_case(tasks::ShapeSet set, const std::string& shape) {
  tasks::CaseResult timed;
  timed.stage = tasks::Stage::Time;
  timed.set = set;
  timed.shape = shape;
  timed.verdict = tasks::Verdict::Correct;
  timed.median_ns = 6007;
  timed.baseline_median_ns = 12014;
  timed.speedup = 2;
  return timed;
}

/// A context with all that roles and their advice can show. Its parent was timed at a hidden shape.
ProposalContext role_context(const tasks::Task& task, const std::string& op) {
  ProposalContext context;
  context.task = &task;
  context.device = "cuda";
  context.device_name = "NVIDIA H200";
  context.facts.architecture = "sm_90a";
  context.op = op;
  Attempt attempt{3, "// THE KERNEL\n__global__ void k() {}\n", {}};
  attempt.evaluation.verdict = tasks::Verdict::Correct;
  attempt.evaluation.speedup = 2;
  attempt.evaluation.cases = {role_case(tasks::ShapeSet::Search, "rows=4096"),
                              role_case(tasks::ShapeSet::Promotion, "rows=7919")};
  attempt.evaluation.hidden_speedup = 1.9173;
  context.parent = context.best = context.second = context.previous = attempt;
  context.baseline = attempt;
  context.history = {earlier_attempt(attempt.number, attempt.evaluation)};
  context.advice = "Bottleneck: THE ADVICE";
  context.guide = "THE WORDS";
  context.lessons = {"1.40x on another task: THE LESSON"};
  context.evidence = {"dram_throughput_pct = 41.2"};
  context.record = "THE RECORD";
  context.bins = {"THE BIN"};
  context.versions = {"8 kernels, mean gain 2.0 %: THE VERSION"};
  return context;
}

std::string role_prompt(const ProposalContext& context) {
  std::string text;
  for (const Message& message : PromptTemplates().proposal(context)) {
    text += message.text;
  }
  return text;
}

tasks::Task softmax() {
  return tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue",
                          "row_softmax");
}

TEST(RolePrompts, ShowWhatTheRoleNeedsAndNoMore) {
  const tasks::Task task = softmax();
  const std::map<std::string, std::vector<std::string>> shown{
      {"judge", {"THE KERNEL", "dram_throughput_pct", "THE RECORD", "judge this kernel"}},
      {"verify", {"   1| // THE KERNEL", "THE RECORD", "would this file fail"}},
      {"forecast",
       {"   1| // THE KERNEL", "# The parent: attempt 3", "dram_throughput_pct", "THE RECORD",
        "THE BIN", "how fast is the candidate"}},
      {"meta", {"THE WORDS", "THE VERSION", "THE RECORD", "write a better version"}},
      {"rewrite", {"THE KERNEL", "THE ADVICE", "THE WORDS", "THE LESSON"}},
      {"improve", {"THE KERNEL", "THE ADVICE", "THE WORDS", "THE LESSON"}},
      {"seed", {"THE WORDS", "THE LESSON"}},
      {"repair", {"THE KERNEL"}}};
  const std::vector<std::string> marks{
      "dram_throughput_pct", "THE RECORD", "THE ADVICE", "THE WORDS",
      "THE VERSION",         "THE LESSON", "THE BIN"};
  for (const auto& [op, wanted] : shown) {
    const std::string text = role_prompt(role_context(task, op));
    for (const std::string& mark : wanted) {
      EXPECT_THAT(text, HasSubstr(mark)) << op;
    }
    for (const std::string& mark : marks) {
      const bool is_wanted = std::find(wanted.begin(), wanted.end(), mark) != wanted.end();
      EXPECT_EQ(text.find(mark) != std::string::npos, is_wanted) << op << ": " << mark;
    }
  }
}

TEST(RolePrompts, NeverShowHiddenSizesOrSpeeds) {
  const tasks::Task task = softmax();
  for (const std::string& op : role_operator_names()) {
    const std::string text = role_prompt(role_context(task, op));
    EXPECT_THAT(text, HasSubstr("softmax")) << op;
    for (const char* secret : {"7919", "1.917", "509", "promotion/"}) {
      EXPECT_THAT(text, Not(HasSubstr(secret))) << op;
    }
  }
}

TEST(RolePrompts, LeaveOutWhatIsNotKnown) {
  const tasks::Task task = softmax();
  for (const std::string& op : {"judge", "verify", "meta", "forecast", "improve"}) {
    ProposalContext context = role_context(task, op);
    context.advice = context.guide = context.record = "";
    context.lessons = context.evidence = context.versions = {};
    const std::string text = role_prompt(context);
    for (const char* heading : {"An adviser has read", "# Advice for this task", "# What worked on",
                                "# Facts of", "# Earlier versions", "# How right you were"}) {
      EXPECT_THAT(text, Not(HasSubstr(heading))) << op;
    }
  }
}

TEST(RolePrompts, NeedAKernelToSpeakAbout) {
  const tasks::Task task = softmax();
  for (const char* op : {"judge", "verify", "forecast"}) {
    ProposalContext context = role_context(task, op);
    context.parent.reset();
    EXPECT_THROW(role_prompt(context), Error) << op;
  }
}

TEST(RolePrompts, OfAForecastNeedTheParent) {
  const tasks::Task task = softmax();
  ProposalContext context = role_context(task, "forecast");
  context.second.reset();
  EXPECT_THROW(role_prompt(context), Error);
}

TEST(RolePrompts, HaveRoomForEveryTaskOfTheCatalogue) {
  const std::filesystem::path catalogue =
      std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue";
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(catalogue)) {
    const tasks::Task task = tasks::load_task(entry.folder);
    for (const std::string& op : role_operator_names()) {
      for (const SectionText& section : PromptTemplates().sections(role_context(task, op))) {
        EXPECT_EQ(section.left_out, 0U) << task.name << " " << op << ": " << section.name;
      }
    }
  }
}

} // namespace
} // namespace winnow::agents
