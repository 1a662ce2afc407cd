// Tools: what their schemas accept, and which commands they become.
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "harness/commands/commands.h"
#include "harness/mcp/argument_check.h"
#include "harness/mcp/testing/runner_fake.h"
#include "harness/mcp/tool_call.h"
#include "harness/mcp/tools.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const Tool& tool(const std::string& name) {
  for (const Tool& one : tools()) {
    if (one.name == name) {
      return one;
    }
  }
  throw Error("no tool " + name);
}

std::vector<std::string> line_of(const std::string& name, const json& arguments) {
  EXPECT_EQ(fault_of_value(tool(name).arguments, arguments, ""), "");
  KernelFiles files;
  return command_line(tool(name).command(arguments, files), {});
}

std::string text_of_call(const std::string& name, const json& arguments, test::RunnerFake& runner) {
  const auto result =
      call_tool(tool(name), arguments, {}, runner, {[] { return true; }, [](const auto&) {}});
  return (*result)["content"][0]["text"];
}

TEST(McpTools, BecomeCommands) {
  EXPECT_THAT(line_of("list_tasks", json::object()), ElementsAre("tasks", "list", "--json"));
  EXPECT_THAT(line_of("rules", {{"task", "axpy"}, {"device", "cuda"}, {"gpu", "H100"}}),
              ElementsAre("rules", "--device=cuda", "--gpu=H100", "--", "axpy"));
  EXPECT_THAT(
      line_of("evaluate", {{"task", "axpy"}, {"files", {"-x.cu", "@7"}}, {"no_timing", true}}),
      ElementsAre("eval", "--json", "--brief", "--no-timing", "--", "axpy", "-x.cu", "@7"));
  EXPECT_THAT(
      line_of("evaluate", {{"task", "axpy"},
                           {"files", {"x.cu"}},
                           {"compile_only", true},
                           {"arch", "sm_90a"},
                           {"full", true}}),
      ElementsAre("eval", "--json", "--arch=sm_90a", "--compile-only", "--", "axpy", "x.cu"));
  EXPECT_THAT(
      line_of("profile", {{"task", "axpy"},
                          {"kernel", {{"file", "x.cu"}}},
                          {"parameters", {"BM=64"}},
                          {"counters", "fast"}}),
      ElementsAre("profile", "--json", "--counters=fast", "--param=BM=64", "--", "axpy", "x.cu"));
  EXPECT_THAT(line_of("race", {{"task", "axpy"}, {"a", {{"file", "@1"}}}, {"b", {{"file", "@2"}}}}),
              ElementsAre("race", "--json", "--", "axpy", "@1", "@2"));
  EXPECT_THAT(line_of("leaderboard", {{"task", "axpy"}, {"top", 3}}),
              ElementsAre("leaderboard", "--json", "--task=axpy", "--top=3"));
  EXPECT_THAT(line_of("get_kernel", {{"id", "@12"}}), ElementsAre("show", "--source", "--", "@12"));
  EXPECT_THAT(line_of("get_kernel", {{"id", "12"}, {"part", "record"}}),
              ElementsAre("show", "--json", "--", "12"));
}

TEST(McpTools, KnowWhatAServerDecides) {
  CLI::App app;
  Action chosen;
  for (const NamedCommand& command : kCommands) {
    command.add(app, chosen);
  }
  const std::map<std::string, json> least{
      {"evaluate", {{"task", "a"}, {"files", {"a"}}}},
      {"profile", {{"task", "a"}, {"kernel", {{"file", "a"}}}}},
      {"race", {{"task", "a"}, {"a", {{"file", "a"}}}, {"b", {{"file", "b"}}}}}};
  for (const Tool& one : tools()) {
    KernelFiles files;
    const auto known = least.find(one.name);
    const json arguments = known == least.end() ? json::object() : known->second;
    const CLI::App* command = &app;
    for (const std::string& word : one.command(arguments, files).words) {
      command = command->get_subcommand(word);
    }
    const std::set<CLI::Option*>& here_only = command->get_option("--server")->get_excludes();
    for (const auto& property : one.arguments["properties"].items()) {
      std::string name = "--" + property.key();
      std::replace(name.begin(), name.end(), '_', '-');
      const auto option = std::find_if(here_only.begin(), here_only.end(),
                                       [&](const auto* each) { return each->check_name(name); });
      EXPECT_EQ(option != here_only.end(), contains(one.here_only, property.key()))
          << one.name << " " << name;
    }
  }
}

TEST(McpTools, SayWhatIsWrongWithArgumentsAndWhere) {
  const json& schema = tool("evaluate").arguments;
  const auto fault = [&](const json& value) { return fault_of_value(schema, value, ""); };
  EXPECT_EQ(fault({{"files", {"a"}}}), "'task' is missing");
  EXPECT_THAT(fault({{"task", 7}}), HasSubstr("task: expected a string, not 7"));
  EXPECT_THAT(fault({{"task", "a"}, {"kernels", {{{"texts", ""}}}}}),
              HasSubstr("kernels[0]: unknown property 'texts'; did you mean 'text'?"));
  EXPECT_THAT(fault({{"task", "a"}, {"files", std::vector<std::string>(65, "x")}}),
              HasSubstr("files: expected 0 to 64 items, not 65"));
  EXPECT_THAT(fault({{"task", "a"}, {"full", 1}}), HasSubstr("full: expected a boolean"));
  EXPECT_THAT(fault_of_value(tool("get_kernel").arguments, {{"id", "1"}, {"part", "all"}}, ""),
              HasSubstr("part: expected one of"));
  for (const json& top : {json(-1), json(UINT64_MAX), json(10'001)}) {
    EXPECT_THAT(fault_of_value(tool("leaderboard").arguments, {{"top", top}}, ""),
                HasSubstr("top: expected 0 to 10000"));
  }
}

TEST(McpTools, WriteTextsToFilesThatTheAnswerCallsByTheirNames) {
  test::RunnerFake runner;
  EXPECT_EQ(text_of_call("evaluate",
                         {{"task", "axpy"}, {"kernels", {{{"name", "a.cu"}, {"text", "// one"}}}}},
                         runner),
            "{}");
  const std::string path = runner.commands().front().back();
  EXPECT_EQ(runner.last_file(), "// one");
  EXPECT_FALSE(is_file(path)) << "it is removed when the call ends";

  KernelFiles files;
  const std::string word = files.word_of({{"text", "// two"}});
  EXPECT_EQ(files.with_given_names("at " + word + ":3, " + word), "at kernel_1.cu:3, kernel_1.cu");
}

TEST(McpTools, RefuseBadKernels) {
  test::RunnerFake runner;
  const auto said = [&](const json& kernels) {
    return text_of_call("evaluate", {{"task", "axpy"}, {"kernels", kernels}}, runner);
  };
  for (const std::string name : {"../a.cu", "/etc/x", "", ".", "a\nb", "a b", ".hidden"}) {
    EXPECT_THAT(said({{{"name", name}, {"text", ""}}}), HasSubstr("is no name for a kernel"))
        << name;
  }
  EXPECT_THAT(said({{{"name", std::string("a\0b", 3)}, {"text", ""}}}), HasSubstr("is no name"));
  EXPECT_THAT(said({{{"name", "a"}, {"text", ""}}, {{"name", "a"}, {"text", ""}}}),
              HasSubstr("two kernels have the name 'a'"));
  EXPECT_THAT(said({{{"name", "a"}}}), HasSubstr("a text or a file"));
  EXPECT_THAT(said({{{"text", ""}, {"file", "a"}}}), HasSubstr("and not both"));
  EXPECT_THAT(said({{{"file", "-"}}}), HasSubstr("names no kernel file"));
  EXPECT_THAT(said(json::array()), HasSubstr("no kernel to judge"));
  EXPECT_THAT(text_of_call("describe_task", {{"task", std::string("a\0b", 3)}}, runner),
              HasSubstr("NUL"));
  EXPECT_TRUE(runner.commands().empty());
}

} // namespace
} // namespace winnow::harness
