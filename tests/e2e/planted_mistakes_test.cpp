// Tests `winnow tasks selftest` on a task outside of the catalogue (tests/e2e/rmsnorm): once
// without mistakes, and with one plausible mistake at a time. Every mistake must be detected or
// cause a warning.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kOperations = R"(operations = "4 * rows * cols")";
constexpr const char* kBytes = R"(bytes = "8 * rows * cols + 4 * cols")";
constexpr const char* kMultiple = R"(multiple = "8 + sqrt(cols) / 4")";
constexpr const char* kTinyShape = "rows = 3\ncols = 7";
constexpr const char* kPromotion = "rows = 29\ncols = 521";
constexpr const char* kHeldOut = "rows = 43\ncols = 257";
constexpr const char* kTooLoose = "the limit may be too large";
constexpr const char* kMagnitude = "magnitude[at] = fabs(y[at]);";

struct PlantedMistake : testing::Test {
  PlantedMistake() {
    fs::copy(project_folder() / "tests/e2e/rmsnorm", folder, fs::copy_options::recursive);
  }

  void edit(const char* file, const std::string& from, const std::string& to) const {
    std::string text = read_file(folder / file, 1U << 20U);
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(folder / file) << text;
  }
  /// The selftest of the one task. PyTorch is disabled, so that golden.json is used.
  json selftest() const {
    const json document =
        json_output(run_winnow({"tasks", "selftest", folder.string(), "--seed", "1", "--seeds", "2",
                                "--python", "/bin/false", "--json"}));
    return document.at("tasks").at(0);
  }
  json selftest(const char* file, const std::string& from, const std::string& to) const {
    edit(file, from, to);
    return selftest();
  }
  std::vector<std::string> warnings(const std::string& from, const std::string& to) const {
    const json task = selftest("task.toml", from, to);
    EXPECT_TRUE(task.at("proven")) << task;
    return task.at("warnings");
  }

  TemporaryDirectory directory{"planted-mistakes-test"};
  fs::path folder = directory.path() / "rmsnorm";
};

/// The detail of the first honest kernel that was rejected.
std::string rejection(const json& task) {
  for (const json& kernel : task.at("honest")) {
    if (kernel.at("state") == "rejected") {
      return kernel.at("detail");
    }
  }
  return "none";
}

TEST_F(PlantedMistake, WithoutOneThereIsNothingToSay) {
  const json task = selftest();
  EXPECT_TRUE(task.at("proven")) << task;
  EXPECT_THAT(task.at("warnings"), IsEmpty());
}

TEST_F(PlantedMistake, SeveralAtOnceGetAWarningEach) {
  edit("task.toml", kOperations, R"(operations = "400 * rows * cols")");
  edit("task.toml", kBytes, R"(bytes = "800 * rows * cols")");
  edit("task.toml", kPromotion, kTinyShape);
  edit("task.toml", kHeldOut, kTinyShape);
  const json task =
      selftest("task.toml", kMultiple, R"t(multiple = "100 * (8 + sqrt(cols) / 4)")t");
  EXPECT_FALSE(task.at("proven")) << "the limit accepts squares in f16";
  EXPECT_EQ(task.at("narrowed").at(0).at("state"), "accepted");
  const std::vector<std::string> all = task.at("warnings");
  EXPECT_THAT(all, Contains(HasSubstr("`operations` is 1.311e+07 at search/0")));
  EXPECT_THAT(all, Contains(HasSubstr("`bytes` is 2.621e+07 at search/0")));
  EXPECT_THAT(all, Contains(HasSubstr("promotion/0 has the sizes of tiny/1")));
  EXPECT_THAT(all, Contains(HasSubstr("held_out/0 has the sizes of tiny/1")));
  EXPECT_THAT(all, Contains(HasSubstr(kTooLoose)));
}

TEST_F(PlantedMistake, OperationsOfTheRowsAloneAndATenfoldTolerance) {
  edit("task.toml", kMultiple, R"t(multiple = "10 * (8 + sqrt(cols) / 4)")t");
  EXPECT_THAT(
      warnings(kOperations, R"(operations = "4 * rows")"),
      UnorderedElementsAre(HasSubstr("`operations` is 256 at search/0"), HasSubstr(kTooLoose)));
}

TEST_F(PlantedMistake, OperationsTimesAMillion) {
  const json task = selftest("task.toml", kOperations, R"(operations = "4e6 * rows * cols")");
  EXPECT_FALSE(task.at("proven"));
  EXPECT_THAT(rejection(task), HasSubstr("implausible at search/0"));
  EXPECT_THAT(rejection(task), HasSubstr("task.toml:5:9) is too large"));
}

TEST_F(PlantedMistake, AToleranceThatLetsMutantsPass) {
  const struct {
    const char* file;
    const char* from;
    const char* to;
  } mistakes[]{{"task.toml", kMultiple, R"t(multiple = "100000 * (8 + sqrt(cols) / 4)")t"},
               {"task.toml", "reproducible = false", "absolute = 0.01\nreproducible = false"}};
  for (const auto& mistake : mistakes) {
    SCOPED_TRACE(mistake.to);
    EXPECT_FALSE(selftest(mistake.file, mistake.from, mistake.to).at("proven"));
    edit(mistake.file, mistake.to, mistake.from);
  }
}

TEST_F(PlantedMistake, AMagnitudeOf1000) {
  const json task = selftest("reference.cu", kMagnitude, "magnitude[at] = 1000;");
  EXPECT_THAT(task.at("warnings"), ElementsAre(HasSubstr(kTooLoose)));
}

TEST_F(PlantedMistake, AMagnitudeOfZeroIsNamed) {
  const json task = selftest("reference.cu", kMagnitude, "magnitude[at] = 0;");
  EXPECT_FALSE(task.at("proven"));
  EXPECT_THAT(rejection(task), HasSubstr("reference.cu leaves y_magnitude 0 everywhere"));
}

TEST_F(PlantedMistake, AToleranceTimesAThousandthIsNoMatterOfPrecision) {
  const json task = selftest("task.toml", kMultiple, R"(multiple = "0.01")");
  EXPECT_FALSE(task.at("proven"));
  EXPECT_THAT(rejection(task), HasSubstr("wrong at tiny/"));
  EXPECT_THAT(rejection(task), Not(HasSubstr("tf32")));
}

TEST_F(PlantedMistake, AReferenceThatComputesSomethingElse) {
  for (const char* wrong : {"squares / cols + 2 * eps", "(float)(squares / cols) + eps"}) {
    SCOPED_TRACE(wrong);
    const json task = selftest("reference.cu", "squares / cols + eps", wrong);
    EXPECT_FALSE(task.at("proven"));
    EXPECT_EQ(task.at("reference").at("state"), "differs");
    edit("reference.cu", wrong, "squares / cols + eps");
  }
}

TEST_F(PlantedMistake, WithoutGoldenTensorsTheHintCanBeCopied) {
  fs::remove(folder / "golden.json");
  const json reference = selftest().at("reference");
  EXPECT_EQ(reference.at("state"), "unchecked");
  EXPECT_THAT(reference.at("detail").get<std::string>(),
              testing::EndsWith("winnow tasks selftest --write-golden " + folder.string()));
}

TEST_F(PlantedMistake, ShapesAndBytesAreInDoubtInTasksShow) {
  edit("task.toml", kBytes, R"(bytes = "800 * rows * cols")");
  const ProgramResult shown = run_winnow({"tasks", "show", folder.string()});
  EXPECT_THAT(shown.out, HasSubstr("warning: `bytes` is 2.621e+07 at search/0"));
}

} // namespace
} // namespace winnow::test
