#include "base/error.h"
#include "base/files.h"
#include "harness/import/import_modules.h"
#include "harness/import/yaml_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string yaml_mistake(const std::string& text) {
  try {
    yaml_as_json(text, "task.yml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(YamlText, ReadsATaskOfGpuMode) {
  const json read = yaml_as_json(R"(# name: conv2d-py
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
description: |
  Two
  lines
tests:
  - {"size": 32, "ratio": 1e-3, "nomask": False, "case": "dense", "seed": 4242} # one
  - {"m": [96, 128], "l":1, "none": null}
ranking_by: "12"
name: plain text
)",
                                 "task.yml");
  EXPECT_EQ(read["description"], "Two\nlines\n");
  EXPECT_EQ(read["tests"][0], json::parse(R"({"size": 32, "ratio": 0.001, "nomask": false,
                                              "case": "dense", "seed": 4242})"));
  EXPECT_EQ(read["tests"][1]["m"], json({96, 128}));
  EXPECT_EQ(read["ranking_by"], "12");
  EXPECT_EQ(read["name"], "plain text");
  EXPECT_TRUE(yaml_as_json("", "task.yml").is_null());
}

TEST(YamlText, ATypeIsReadFromThePlainTextOnly) {
  const json read = yaml_as_json("[+3, -4, 0x10, 1_000, 007, .5, .inf, .nan, ~, yes, 'true', "
                                 "99999999999999999999, 1e999, '']",
                                 "task.yml");
  EXPECT_EQ(read[0], 3);
  EXPECT_EQ(read[1], -4);
  EXPECT_EQ(read[2], "0x10");
  EXPECT_EQ(read[3], "1_000");
  EXPECT_EQ(read[5], 0.5);
  EXPECT_EQ(read[6], ".inf");
  EXPECT_TRUE(read[8].is_null());
  EXPECT_EQ(read[9], "yes");
  EXPECT_EQ(read[10], "true");
  EXPECT_TRUE(read[11].is_number_float());
  EXPECT_EQ(read[12], "1e999");
  EXPECT_EQ(read[13], "");
}

TEST(YamlText, MistakesHaveAPlaceAndARemedy) {
  EXPECT_THAT(yaml_mistake("a: 1\nb: [1, 2\nc: 3\n"), StartsWith("task.yml:3:"));
  EXPECT_THAT(yaml_mistake("a: 1\n\tb: 2\n"), HasSubstr("not YAML"));
  EXPECT_THAT(yaml_mistake("{[1, 2]: 3}"), HasSubstr("task.yml:1:2: a key is no plain text"));
  EXPECT_THAT(yaml_mistake("a: *nobody\n"), HasSubstr("task.yml:1:"));
  EXPECT_THAT(yaml_mistake("\"open"), HasSubstr("not YAML"));
  EXPECT_THAT(yaml_mistake(std::string("a: \0\xff\xfe", 6)), testing::Not(HasSubstr("crash")));
  try {
    yaml_as_json("[", "task.yml");
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.remedy(), HasSubstr("correct the file"));
  }
}

TEST(YamlText, DeepAndLargeDocumentsAreRefused) {
  EXPECT_THAT(yaml_mistake(std::string(100'000, '[')), HasSubstr("task.yml"));
  EXPECT_THAT(yaml_mistake(std::string(60, '[') + std::string(60, ']')), HasSubstr("levels deep"));
  EXPECT_THAT(yaml_mistake("&a [*a]"), testing::Not(testing::IsEmpty()));
  std::string bomb = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "- &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 9; ++j) {
      bomb += ", " + last;
    }
    bomb += "]\n";
  }
  EXPECT_THAT(yaml_mistake(bomb), HasSubstr("more than 100000 values"));
}

class StatedProblems : public testing::Test {
protected:
  void add(const std::string& file, const std::string& text = "") const {
    std::filesystem::create_directories((root() / file).parent_path());
    write_file_atomic(root() / file, text);
  }
  const std::filesystem::path& root() const { return folder_.path(); }
  static json request(const Module& module) { return json::parse(module.problem->request); }

private:
  TemporaryDirectory folder_{"stated"};
};

TEST_F(StatedProblems, OfGpuModeHaveTheirSizesAndTheirBoard) {
  add("problems/pmpp_v2/sort_py/task.yml",
      "description: |\n\n  Sort it.\n  More.\ntests:\n  - {\"size\": 3, \"seed\": 1}\n"
      "benchmarks:\n  - {\"size\": 30, \"seed\": 1}\n");
  add("problems/pmpp_v2/sort_py/reference.py", "def ref_kernel(data): pass");
  add("problems/amd/broken/task.yml", "tests: [");
  add("problems/amd/broken/reference.py");
  add("problems/amd/empty/task.yml", "tests: 3\n");
  add("problems/amd/empty/reference.py");
  add("problems/amd/without/task.yml", "tests: []\n");
  add("problems/.git/amd/task.yml", "");
  add("problems/pmpp_v2.yaml", "problems:\n  - directory: pmpp_v2/sort_py\n    name: sort_v2\n"
                               "    gpus:\n      - H100\n      - A100\n");
  add("problems/other.yaml", "problems: [\n");
  const std::vector<Module> found = gpumode_problems(root(), "to");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_THAT(found[0].problem->wrong, HasSubstr("task.yml:1:"));
  EXPECT_THAT(found[1].problem->wrong, HasSubstr("'tests' is no list of tables"));
  EXPECT_EQ(found[2].problem->wrong, "reference.py is missing");
  EXPECT_EQ(found[3].problem->wrong, "");
  EXPECT_EQ(found[3].folder, "to/pmpp_v2/sort_py");
  EXPECT_EQ(found[3].origin.origin, "GPU MODE pmpp_v2/sort_py");
  EXPECT_EQ(request(found[3]),
            json::parse(R"({"form": "gpumode", "name": "sort_py", "title": "Sort it.",
                            "tests": [{"size": 3, "seed": 1}],
                            "benchmarks": [{"size": 30, "seed": 1}]})"));
  EXPECT_EQ(json::parse(found[3].problem->board),
            json::parse(R"({"leaderboard": "sort_v2", "gpus": ["H100", "A100"]})"));
  EXPECT_EQ(json::parse(found[2].problem->board)["leaderboard"], "without");
  EXPECT_EQ(gpumode_problems(root() / "problems/pmpp_v2/sort_py", "to").size(), 1U);
  EXPECT_THROW(gpumode_problems(root() / "problems/.git/nothing", "to"), UsageError);
}

TEST_F(StatedProblems, OfRobustKbenchAreTwoPasses) {
  add("tasks/layernorm/func_forward.py");
  add("tasks/layernorm/config_forward.json", "{}");
  add("tasks/layernorm/func_backward.py");
  add("tasks/kernelbench/level_1/task_3/func_forward.py");
  add("tasks/kernelbench/level_1/task_3/config_forward.json", "{\"a\": 1}");
  const std::vector<Module> found = robust_problems(root(), "to");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].folder, "to/level_1/task_3");
  EXPECT_EQ(request(found[0])["config"], "{\"a\": 1}");
  EXPECT_EQ(found[1].folder, "to/forward/layernorm");
  EXPECT_EQ(request(found[1])["backward"], false);
  EXPECT_EQ(found[2].folder, "to/backward/layernorm");
  EXPECT_EQ(found[2].problem->wrong, "config_backward.json is missing");
  EXPECT_THROW(robust_problems(root() / "tasks/none", "to"), UsageError);
}

TEST_F(StatedProblems, OfADeckAreNamedByIt) {
  for (const char* file : {"problem.yaml", "reference.py", "shapes.py"}) {
    add(std::string("benchmarks/hard/problems-h100/01_gemm/") + file, "SHAPES = []");
  }
  add("benchmarks/cuda/problems-h100/02_metal/problem.yaml");
  const std::vector<Module> found = deck_problems(root(), "to");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].problem->wrong, "reference.py is missing");
  EXPECT_EQ(found[1].folder, "to/hard/01_gemm");
  EXPECT_EQ(request(found[1])["shapes"], "SHAPES = []");
}

TEST_F(StatedProblems, AWrongOneIsRefusedWithoutAnyChild) {
  const Module wrong{
      root() / "none.py", root() / "to/a", {"mine", "eval"}, StatedProblem{"", "", "no sizes"}};
  const Imported result =
      import_module([](const json&) -> json { throw Error("was asked"); }, wrong, ImportOptions{});
  EXPECT_EQ(result.refused, "no sizes");
}

} // namespace
} // namespace winnow::harness
