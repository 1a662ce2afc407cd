#include "harness/cli.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Answer {
  int code = -1;
  std::string out, err;
};

Answer answer_of(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Answer answer;
  answer.code = run_cli(arguments);
  answer.out = testing::internal::GetCapturedStdout();
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

TEST(Rules, OfAModelOfGpuHaveItsNumbersAndBounds) {
  const Answer rules = answer_of({"rules", "transpose", "--gpu", "H100"});
  EXPECT_EQ(rules.code, 0);
  for (const char* part : {"# How you are judged", "/*@winnow", "# Tensor maps", "# Task: ",
                           "`sm_count` = 132", "peak of 16-bit tensor operations", "data sheets",
                           "The least time of any kernel", "winnow eval transpose FILE"}) {
    EXPECT_THAT(rules.out, HasSubstr(part));
  }
  EXPECT_THAT(rules.out, Not(HasSubstr("{{")));
}

TEST(Rules, WithoutATaskHaveEveryPartOfTheKernelFile) {
  const Answer rules = answer_of({"rules", "--gpu", "h200"});
  EXPECT_EQ(rules.code, 0);
  for (const char* part : {"# Tensor maps", "# Steps that repeat", "# Prepared inputs",
                           "`\"cluster\": [2]`", "winnow rules TASK"}) {
    EXPECT_THAT(rules.out, HasSubstr(part));
  }
  for (const char* part : {"# Task: ", "The least time", "baseline to beat", "{{"}) {
    EXPECT_THAT(rules.out, Not(HasSubstr(part)));
  }
}

TEST(Rules, OfTheCpuAreForItsFibers) {
  const Answer rules = answer_of({"rules", "axpy", "--device", "cpu", "--json"});
  EXPECT_EQ(rules.code, 0);
  const json document = json::parse(rules.out);
  EXPECT_EQ(document["device"], "cpu");
  EXPECT_EQ(document["task"], "axpy");
  EXPECT_EQ(document["note"], "");
  EXPECT_THAT(document["text"].get<std::string>(), HasSubstr("This device is a CPU"));
  EXPECT_THAT(document["text"].get<std::string>(), Not(HasSubstr("not_judged")));
}

TEST(JsonErrors, AreOnStdoutForEveryCommandAndMistake) {
  struct Mistake {
    std::vector<std::string> arguments;
    std::string error, remedy;
  };
  for (const Mistake& mistake : std::vector<Mistake>{
           {{"rules", "axpi", "--json"}, "axpy", "winnow tasks list"},
           {{"eval", "axpy", "a.cu", "--json", "--breif"}, "--breif", "winnow eval --help"},
           {{"eval", "--json"}, "TASK", "winnow eval --help"},
           {{"evl", "--json"}, "evl", "winnow --help"},
           {{"rules", "--gpu", "H1000", "--json"}, "H1000", "H100"},
           {{"eval", "axpy", "/no/such.cu", "--json"}, "/no/such.cu", ""},
           {{"leaderboard", "--store", "/no/such.db", "--json"}, "/no/such.db", ""}}) {
    const Answer answer = answer_of(mistake.arguments);
    const json document = json::parse(answer.out);
    EXPECT_EQ(document["exit_code"], answer.code);
    EXPECT_NE(answer.code, 0);
    EXPECT_THAT(document["error"].get<std::string>(), HasSubstr(mistake.error));
    EXPECT_THAT(document["remedy"].get<std::string>(), HasSubstr(mistake.remedy));
    EXPECT_THAT(answer.err, HasSubstr("error: " + document["error"].get<std::string>()));
  }
  EXPECT_THAT(answer_of({"rules", "--gpu", "H1000"}).out, IsEmpty());
}

TEST(CompileOnly, NamesAModelOnlyWhereItHelps) {
  EXPECT_THAT(answer_of({"eval", "axpy", __FILE__, "--sass"}).err,
              HasSubstr("--sass works only with --compile-only"));
  EXPECT_THAT(answer_of({"eval", "axpy", __FILE__, "--gpu", "H100"}).err,
              HasSubstr("--gpu works only with --compile-only"));
  EXPECT_THAT(
      answer_of({"eval", "axpy", __FILE__, "--compile-only", "--gpu", "MI300X", "--device", "cuda"})
          .err,
      HasSubstr("of the kind hip"));
  EXPECT_THAT(
      answer_of({"eval", "axpy", __FILE__, "--compile-only", "--gpu", "H100", "--arch", "sm_80"})
          .err,
      HasSubstr("exclude each other"));
}

} // namespace
} // namespace winnow::harness
