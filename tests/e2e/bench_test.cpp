// `winnow bench` on a recorded model, without PyTorch: tests/bench/python_for_bench.py answers.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class Bench : public testing::Test {
protected:
  ProgramResult bench(const std::string& suite, const fs::path& python,
                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"bench",   suite,  "--config", "tests/bench/bench.toml",
                                       "--store", store()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ProgramOptions options;
    options.environment["WINNOW_PYTHON"] = python.string();
    return run_winnow(arguments, options);
  }
  std::string store() const { return (folder_.path() / "bench.db").string(); }

  /// A Python that cannot import torch.
  fs::path python_without_torch() const {
    fs::path python = folder_.path() / "python";
    fs::copy_file(project_folder() / "evaluators/torch/testing/python_fake.py", python);
    write_file_atomic(folder_.path() / "TORCH_IS_MISSING", "");
    return python;
  }

  static std::vector<int> fast(const json& score) {
    std::vector<int> counts;
    for (const json& one : score.at("fast")) {
      counts.push_back(one.at("problems").get<int>());
    }
    return counts;
  }

  TemporaryDirectory folder_{"winnow-bench-test"};
};

TEST_F(Bench, ScoresARecordedModelWithoutPyTorch) {
  const ProgramResult result =
      bench("tests/bench/suite", "tests/bench/python_for_bench.py", {"--json", "--compiled"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json_output(result);
  EXPECT_THAT(document.at("speedup_versus"), ElementsAre("PyTorch eager"));
  const json& run = document.at("runs").at(0);
  std::map<std::string, std::string> first, best;
  for (const json& problem : run.at("problems")) {
    first[problem.at("task")] = problem.at("first").at("verdict");
    best[problem.at("task")] = problem.at("best").at("verdict");
  }
  const std::map<std::string, std::string> expected_first{{"1_MatmulBias", "correct"},
                                                          {"1_ShiftedReLU", "wrong"},
                                                          {"2_MaxMinusItsMean", "correct"},
                                                          {"2_RowSoftmax", "compile_error"}};
  EXPECT_EQ(first, expected_first) << result.err;
  EXPECT_EQ(best.at("1_ShiftedReLU"), "correct");
  ASSERT_EQ(run.at("folders").size(), 3U);
  const json& all = run.at("folders").at(2);
  EXPECT_EQ(all.at("folder"), "all");
  EXPECT_EQ(all.at("problems"), 4);
  EXPECT_EQ(all.at("flagged"), 1);
  EXPECT_NEAR(all.at("dollars").get<double>(), 0.04, 1e-9);
  const json& scores = all.at("scores");
  ASSERT_EQ(scores.size(), 4U);
  EXPECT_THAT(fast(scores.at(0)), ElementsAre(2, 1, 1, 1, 1, 1)) << "the matmul is slow";
  EXPECT_THAT(fast(scores.at(1)), ElementsAre(3, 2, 2, 2, 2, 2));
  EXPECT_THAT(fast(scores.at(2)), ElementsAre(1, 0, 0, 0, 0, 0)) << "without the flagged one";
  EXPECT_EQ(scores.at(1).at("compiled_share"), 0.75);
  EXPECT_EQ(scores.at(1).at("versus_torch_compile").at("timed"), 3);
  const ProgramResult again =
      run_winnow({"leaderboard", "--suite", "tests/bench/suite", "--json", "--store", store()});
  EXPECT_EQ(json_output(again), document);
  const ProgramResult text =
      run_winnow({"leaderboard", "--suite", "tests/bench/suite/level2", "--store", store()});
  EXPECT_THAT(text.out, HasSubstr("suite tests/bench/suite/level2: speedups are against PyTorch "
                                  "eager\n"));
  EXPECT_THAT(text.out, HasSubstr("best, unflagged"));
}

TEST_F(Bench, ComparesModels) {
  const fs::path other = folder_.path() / "other.jsonl";
  std::string first_line = read_file(project_folder() / "tests/bench/replies.jsonl", 1U << 20U);
  first_line.resize(first_line.find('\n') + 1);
  write_file_atomic(other, first_line);
  const std::vector<std::string> models{"--json",
                                        "--calls",
                                        "1",
                                        "--model",
                                        "replay:tests/bench/replies.jsonl",
                                        "--model",
                                        "replay:" + other.string()};
  const ProgramResult result =
      bench("tests/bench/suite", "tests/bench/python_for_bench.py", models);
  EXPECT_EQ(result.exit_code, 5) << "the second recording has one reply for four tasks";
  std::vector<std::int64_t> answered;
  const json document = json_output(result);
  for (const json& run : document.at("runs")) {
    answered.push_back(
        run.at("folders").back().at("scores").at(0).at("answered").get<std::int64_t>());
  }
  EXPECT_THAT(answered, ElementsAre(4, 1));
  std::vector<std::string> named = models;
  named.insert(named.end(), {"--name", "x"});
  EXPECT_THAT(bench("tests/bench/suite", "tests/bench/python_for_bench.py", named).err,
              HasSubstr("each --model is a run of its own"));
}

TEST_F(Bench, WithoutPyTorchOnlyTheOtherTasksAreJudged) {
  const fs::path python = python_without_torch();
  const ProgramResult none = bench("tests/bench/suite", python);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("error: 4 tasks need PyTorch as the judge (1_ShiftedReLU, "));
  EXPECT_THAT(none.err, HasSubstr("remedy: install PyTorch"));
  EXPECT_FALSE(fs::exists(store())) << "no model was asked";
  const fs::path mixed = folder_.path() / "mixed";
  fs::create_directory(mixed);
  fs::copy(project_folder() / "tests/bench/suite/level1/1_ShiftedReLU", mixed / "1_ShiftedReLU");
  fs::copy(project_folder() / "tasks/catalogue/blas/axpy", mixed / "axpy",
           fs::copy_options::recursive);
  const ProgramResult one =
      bench(mixed.string(), python,
            {"--json", "--calls", "1", "--set", "endpoint.file=configs/quickstart_replies.jsonl"});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.err, HasSubstr("incomplete: 1 task needs PyTorch as the judge"));
  const json folder = json_output(one).at("runs").at(0).at("folders").at(0);
  EXPECT_EQ(folder.at("problems"), 2) << "a problem that was left out counts as wrong";
  EXPECT_EQ(folder.at("scores").at(0).at("answered"), 1);
}

} // namespace
} // namespace winnow::test
