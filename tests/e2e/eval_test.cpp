// Tests `winnow eval` of the real program: good kernels are correct, and bad kernels get the
// verdict and the explanation in tests/buggy/expected.json.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;

class Baseline : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Baseline, IsCorrectWithPerShapeCases) {
  const ProgramResult result =
      run_winnow({"eval", GetParam().filename().string(), (GetParam() / "baseline.cu").string(),
                  "--device", "cpu", "--time-budget", "5ms", "--json"});
  const json evaluation = json_output(result);
  EXPECT_EQ(evaluation.value("verdict", ""), "correct") << result.out << result.err;
  EXPECT_EQ(result.exit_code, 0);
  int timed = 0;
  for (const json& shape : evaluation.value("cases", json::array())) {
    const bool hidden =
        shape.value("shape_set", "") == "promotion" || shape.value("shape_set", "") == "held_out";
    EXPECT_EQ(shape.contains("shape"), !hidden) << shape;
    timed += shape.value("stage", "") == "time" && shape.value("median_ns", 0.0) > 0 ? 1 : 0;
  }
  EXPECT_EQ(timed, 2) << "both search shapes are timed: " << result.out;
}

std::string task_name(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.filename().string();
}
INSTANTIATE_TEST_SUITE_P(Catalogue, Baseline, testing::ValuesIn(catalogue_tasks()), task_name);

TEST(CudaProgram, LearnsWhatAKernelFileIs) {
  const std::map<std::string, std::string> said{
      {"program", "the file has no launch plan"},
      {"launch", "the file has no launch plan"},
      {"torch_extension", "the file has no launch plan"},
      {"program_with_plan", "There is host code in line 14 ('main')"},
      {"other_name", "did you mean 'softmax'?"},
      {"other_types", "parameter 1 'x' of kernel 'softmax' is const double*; expected float*"}};
  for (const auto& [name, words] : said) {
    const ProgramResult result = run_winnow(
        {"eval", "row_softmax", "tests/e2e/cuda_programs/" + name + ".cu", "--device", "cpu"});
    EXPECT_EQ(result.exit_code, 10) << name << result.err;
    EXPECT_THAT(result.out, testing::HasSubstr(words)) << name;
    EXPECT_THAT(result.out, testing::HasSubstr("hint: a kernel file is device code with a launch "
                                               "plan, and has no host code; `winnow tasks template "
                                               "row_softmax FILE` writes one to begin with"))
        << name;
  }
  const TemporaryDirectory directory("plan");
  const std::string file = (directory.path() / "grid.cu").string();
  write_file_atomic(file,
                    "/*@winnow {\"launches\": [{\"kernel\": \"k\", \"grid\": [0], \"block\": [1], "
                    "\"args\": [\"x\", \"y\"]}]} @*/\n__global__ void k() {}\n");
  const ProgramResult result = run_winnow({"eval", "row_softmax", file, "--device", "cpu"});
  EXPECT_THAT(result.out, testing::HasSubstr("bad_plan"));
  EXPECT_THAT(result.out, testing::Not(testing::HasSubstr("hint:"))) << "the author knows the form";
  // a task of one's own is named by its folder
  const std::string own = (directory.path() / "mine").string();
  std::filesystem::copy(project_folder() / "tests/e2e/rmsnorm", own);
  const ProgramResult of_own =
      run_winnow({"eval", own, "tests/e2e/cuda_programs/program.cu", "--device", "cpu"});
  EXPECT_THAT(of_own.out, testing::HasSubstr("`winnow tasks template " + own + " FILE`"))
      << of_own.err;
}

std::vector<json> buggy_kernels() {
  const json list =
      json::parse(read_file(project_folder() / "tests/buggy/expected.json", 1U << 20U));
  return {list.begin(), list.end()};
}

class BuggyKernel : public testing::TestWithParam<json> {};

TEST_P(BuggyKernel, GetsItsVerdictAndIsExplained) {
  const json expected = GetParam();
  // Short limits, because one kernel runs without end and one compiles without end.
  const bool never_ends = expected.at("verdict") == "timeout";
  const bool never_compiles = expected.at("verdict") == "over_limit";
  const ProgramResult result = run_winnow(
      {"eval", expected.at("task"), "tests/buggy/" + expected.at("file").get<std::string>(),
       "--device", "cpu", "--timeout", never_ends ? "3s" : "10s", "--compile-timeout",
       never_compiles ? "5s" : "20s", "--json"});
  const json evaluation = json_output(result);
  EXPECT_EQ(evaluation.value("verdict", ""), expected.at("verdict").get<std::string>())
      << result.out << result.err;
  EXPECT_EQ(result.exit_code, 10);
  EXPECT_FALSE(evaluation.value("promoted", true));
  const std::string detail = evaluation.value("detail", "");
  for (const std::string said : expected.at("says")) {
    EXPECT_NE(detail.find(said), std::string::npos) << "'" << said << "' is not in: " << detail;
  }
  for (const std::string unsaid : expected.value("never_says", json::array())) {
    EXPECT_EQ((result.out + result.err).find(unsaid), std::string::npos) << unsaid;
  }
}

std::string kernel_name(const testing::TestParamInfo<json>& info) {
  return std::filesystem::path(info.param.at("file").get<std::string>()).stem().string();
}
INSTANTIATE_TEST_SUITE_P(Kernels, BuggyKernel, testing::ValuesIn(buggy_kernels()), kernel_name);

} // namespace
} // namespace winnow::test
