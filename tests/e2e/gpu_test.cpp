// Tests the real program on a real GPU. Skipped with the reason if there is none.
#include "base/files.h"
#include "base/text.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const ProgramOptions kOnGpu{
    .environment = {}, .timeout = std::chrono::milliseconds(600'000), .gpus = true};

class Gpu : public testing::Test {
protected:
  void SetUp() override {
    static const std::string why = why_no_cuda();
    if (!why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};

TEST_F(Gpu, EveryBaselineIsCorrect) {
  for (const std::filesystem::path& folder : catalogue_tasks()) {
    const ProgramResult result =
        run_winnow({"eval", folder.filename().string(), (folder / "baseline.cu").string(),
                    "--device", "cuda", "--json"},
                   kOnGpu);
    const json evaluation = json_output(result);
    EXPECT_EQ(evaluation.value("verdict", ""), "correct") << result.out << result.err;
    EXPECT_GT(evaluation.value("speedup", 0.0), 0.5) << folder;
  }
}

/// The task whose name is the longest prefix of the file's name: gemm_f16_wgmma.cu is for gemm_f16.
std::string task_of(const std::filesystem::path& file) {
  std::string best;
  for (const std::filesystem::path& folder : catalogue_tasks()) {
    const std::string name = folder.filename().string();
    if (file.filename().string().starts_with(name) && name.size() > best.size()) {
      best = name;
    }
  }
  return best;
}

TEST_F(Gpu, HandWrittenKernelsAreCorrect) {
  for (const auto& entry :
       std::filesystem::directory_iterator(project_folder() / "tests/gpu/kernels")) {
    if (entry.path().extension() != ".cu") {
      continue;
    }
    const ProgramResult result = run_winnow(
        {"eval", task_of(entry.path()), entry.path().string(), "--device", "cuda"}, kOnGpu);
    EXPECT_EQ(result.exit_code, 0) << entry.path() << result.out << result.err;
  }
}

TEST_F(Gpu, ProfilesNameWhatLimitsAKernel) {
  const char* transpose = "measure/tasks/transpose";
  EXPECT_EQ(profiled_limiter(transpose, "measure/tasks/transpose/baseline.cu", "cuda", kOnGpu),
            "DRAM bandwidth");
  EXPECT_EQ(profiled_limiter(transpose, "measure/kernels/transpose_conflicts.cu", "cuda", kOnGpu),
            "shared memory");
  const TemporaryDirectory short_task("axpy_of_64");
  for (const auto& entry :
       std::filesystem::directory_iterator(project_folder() / "measure/tasks/axpy_short")) {
    std::string text = read_file(entry.path(), 1U << 20U);
    const std::size_t size = text.find("n = 1000000");
    write_file_atomic(short_task.path() / entry.path().filename(),
                      size == std::string::npos ? text : text.replace(size, 11, "n = 64"));
  }
  EXPECT_EQ(profiled_limiter(short_task.path(), short_task.path() / "baseline.cu", "cuda", kOnGpu),
            "launch");
}

// All kernels are judged by one process, with one worker after the other on the same GPU. Each
// broken kernel gets its verdict, and the correct kernel after it passes.
TEST_F(Gpu, SurvivesBrokenKernels) {
  const json broken =
      json::parse(read_file(project_folder() / "tests/gpu/broken/expected.json", 1U << 20U));
  std::vector<std::string> arguments{"eval", "axpy"};
  for (const json& kernel : broken) {
    ASSERT_EQ(kernel.at("task"), "axpy");
    arguments.push_back("tests/gpu/broken/" + kernel.at("file").get<std::string>());
    arguments.emplace_back("tasks/catalogue/blas/axpy/baseline.cu");
  }
  for (const char* option : {"--device", "cuda", "--json", "--no-reuse", "--timeout", "2s"}) {
    arguments.emplace_back(option);
  }
  const ProgramResult result = run_winnow(arguments, kOnGpu);
  const json evaluations = json_output(result);
  ASSERT_EQ(evaluations.size(), 2 * broken.size()) << result.err;
  for (std::size_t i = 0; i < broken.size(); ++i) {
    const json& expected = broken[i];
    const json& judged = evaluations[2 * i];
    const std::string file = expected.at("file");
    const std::string detail = judged.value("detail", "");
    EXPECT_EQ(judged.value("verdict", ""), expected.at("verdict").get<std::string>())
        << file << ": " << detail;
    for (const std::string said : expected.at("says")) {
      EXPECT_THAT(detail, HasSubstr(said)) << file;
    }
    for (const std::string unsaid : expected.value("never_says", json::array())) {
      EXPECT_THAT(judged.dump(), testing::Not(HasSubstr(unsaid))) << file;
    }
    EXPECT_EQ(evaluations[2 * i + 1].value("verdict", ""), "correct")
        << "after " << file << ": " << evaluations[2 * i + 1].value("detail", "");
  }
  EXPECT_THAT(result.err, HasSubstr("worker restarts: "));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("worker restarts: 0")));
}

} // namespace
} // namespace winnow::test
