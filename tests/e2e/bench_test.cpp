// `winnow bench` on a recorded model, without PyTorch: tests/bench/python_for_bench.py answers.
#include "base/files.h"
#include "base/text.h"
#include "tests/e2e/winnow_program.h"
#include "tests/fake_endpoint/fake_endpoint.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
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
using testing::UnorderedElementsAre;

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

TEST_F(Bench, GoesOnWhereTheOnlyTaskHasNoAlternatives) {
  std::string python = read_file(project_folder() / "tests/bench/python_for_bench.py", 1U << 20U);
  const std::string asked = "if request[\"do\"] == \"alternatives\":";
  ASSERT_NE(python.find(asked), std::string::npos);
  python.insert(python.find(asked), asked + "\n        return {\"error\": \"none today\"}\n    ");
  const fs::path refuses = folder_.path() / "python3";
  write_file_atomic(refuses, python);
  fs::permissions(refuses, fs::perms::owner_all);
  const ProgramResult result =
      bench("tests/bench/suite/level1/1_ShiftedReLU", refuses, {"--json", "--alternatives"});
  EXPECT_THAT(result.err, HasSubstr("1_ShiftedReLU: they have no times: none today"));
  EXPECT_EQ(json_output(result).at("runs").at(0).at("problems").size(), 1U) << result.err;
}

TEST_F(Bench, ScoresARecordedModelWithoutPyTorch) {
  const ProgramResult result =
      bench("tests/bench/suite", "tests/bench/python_for_bench.py", {"--json", "--alternatives"});
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
  EXPECT_EQ(scores.at(1).at("versus_best").at("timed"), 3);
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
  EXPECT_THAT(result.err, HasSubstr("the recording 'other' has no reply for 3 of 4 tasks"));
  std::vector<std::string> named = models;
  named.insert(named.end(), {"--name", "x"});
  EXPECT_THAT(bench("tests/bench/suite", "tests/bench/python_for_bench.py", named).err,
              HasSubstr("each --model is a run of its own"));
}

/// Two small tasks of the catalogue, and recordings for the calls of one-plus-one (TASK/0/STEP) and
/// of best-of-n (TASK/LINEAGE/0).
class BenchOfStrategies : public Bench {
protected:
  BenchOfStrategies() {
    write_file_atomic(suite_, "tasks = ['axpy', 'reduce_sum']");
    const std::string all =
        read_file(project_folder() / "configs/quickstart_replies.jsonl", 1U << 24U);
    std::string right, wrong;
    for (const std::string_view line : split_lines(all)) {
      json call = json::parse(line);
      for (const std::string task : {"axpy", "reduce_sum"}) {
        for (const std::string step : {"0", "1"}) {
          if (call.at("key") != task + "/0/" + step || call.contains("device")) {
            continue;
          }
          json other = call;
          other["reply"] = "I would rather not.";
          for (const std::string& key : std::set{task + "/0/" + step, task + "/" + step + "/0"}) {
            call["key"] = other["key"] = key;
            right += call.dump() + "\n";
            wrong += other.dump() + "\n";
          }
        }
      }
    }
    write_file_atomic(folder_.path() / "right.jsonl", right);
    write_file_atomic(folder_.path() / "wrong.jsonl", wrong);
    write_file_atomic(folder_.path() / "third.jsonl", right);
  }
  ProgramResult compare(const std::vector<std::string>& models,
                        const std::vector<std::string>& strategies,
                        const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"--json", "--calls", "2"};
    for (const std::string& model : models) {
      arguments.insert(arguments.end(), {"--model", "replay:" + recording(model)});
    }
    for (const std::string& strategy : strategies) {
      arguments.insert(arguments.end(), {"--strategy", strategy});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bench(suite_, "tests/bench/python_for_bench.py", arguments);
  }
  std::string recording(const std::string& name) const {
    return (folder_.path() / (name + ".jsonl")).string();
  }
  /// "right, archive: finished" for each row of the comparison.
  static std::vector<std::string> rows_of(const json& document) {
    std::vector<std::string> rows;
    for (const json& row : document.at("comparison").at("rows")) {
      rows.push_back(row.at("model").get<std::string>() + ", " +
                     row.at("strategy").get<std::string>() + ": " +
                     row.at("status").get<std::string>());
    }
    return rows;
  }

  std::string suite_ = (folder_.path() / "two.toml").string();
};

TEST_F(BenchOfStrategies, HasARowForEachModelWithEachStrategy) {
  const ProgramResult result = compare({"right", "wrong"}, {"one-plus-one", "best-of-n"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json_output(result);
  EXPECT_THAT(rows_of(document),
              UnorderedElementsAre("right, one-plus-one: finished", "right, best-of-n: finished",
                                   "wrong, one-plus-one: finished", "wrong, best-of-n: finished"));
  for (const json& row : document.at("comparison").at("rows")) {
    const bool is_right = row.at("model") == "right";
    EXPECT_EQ(row.at("correct").at("value"), is_right ? 1 : 0) << row;
    EXPECT_EQ(row.at("speedup").at("value").is_null(), !is_right) << row;
    EXPECT_TRUE(row.at("correct").at("tied").get<bool>()) << "two problems tell nobody apart";
    EXPECT_EQ(row.at("pass_at_1").at("value").is_null(), row.at("strategy") != "best-of-n");
    EXPECT_TRUE(row.at("pass_at_5").at("value").is_null()) << "there are two replies";
    EXPECT_EQ(row.at("calls"), 4);
    EXPECT_GT(row.at("device_seconds").get<double>(), 0) << "the baseline was judged";
  }
  EXPECT_EQ(
      json_output(run_winnow({"leaderboard", "--suite", suite_, "--json", "--store", store()})),
      document);
  const std::string page =
      run_winnow({"export", "html", "--suite", suite_, "--store", store()}).out;
  const std::string begin = "id=\"board\">";
  const std::size_t from = page.find(begin) + begin.size();
  const json board = json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(board.at("suite"), document);
  const ProgramResult text = run_winnow({"leaderboard", "--suite", suite_, "--store", store()});
  EXPECT_THAT(text.out, HasSubstr("comparison at 2 problems:"));
  EXPECT_THAT(text.out, HasSubstr("fewer than 6 problems: no interval, and all rows tie"));
}

TEST_F(BenchOfStrategies, GoesOnWithOtherModels) {
  write_file_atomic(suite_, "tasks = ['axpy']");
  const std::vector<std::string> strategy{"one-plus-one"};
  const ProgramResult stopped = compare({"right", "wrong"}, strategy, {"--max-calls", "1"});
  EXPECT_EQ(stopped.exit_code, 5);
  EXPECT_THAT(rows_of(json_output(stopped)),
              UnorderedElementsAre("right, one-plus-one: stopped by budget",
                                   "wrong, one-plus-one: stopped by budget"));
  const ProgramResult again =
      compare({"right", "third"}, strategy, {"--resume", "--max-calls", "0"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const json document = json_output(again);
  EXPECT_THAT(rows_of(document), UnorderedElementsAre("right, one-plus-one: finished",
                                                      "third, one-plus-one: finished"));
  EXPECT_THAT(again.err, HasSubstr("(wrong, one-plus-one) of this suite is not finished"));
  const ProgramResult nothing_left =
      compare({"right", "third"}, strategy, {"--resume", "--max-calls", "0"});
  EXPECT_EQ(json_output(nothing_left), document);
  EXPECT_THAT(nothing_left.err, HasSubstr("run 'bench' (right, one-plus-one) is finished"));
}

TEST_F(BenchOfStrategies, CtrlCLeavesRunsThatTheSameCommandFinishes) {
  write_file_atomic(suite_, "tasks = ['axpy']");
  const std::string kernel =
      read_file(project_folder() / "tasks/catalogue/blas/axpy/baseline.cu", 1U << 20U);
  const tests::FakeEndpoint endpoint([&](const auto& /*request*/, std::size_t number) {
    tests::FakeReply reply = tests::chat_reply("```cuda\n" + kernel + "```\n");
    if (number == 0) {
      reply.fault = tests::FakeReply::Fault::NeverAnswer;
    }
    return reply;
  });
  std::vector<std::string> command{"bench",
                                   suite_,
                                   "--config",
                                   "live",
                                   "--store",
                                   store(),
                                   "--json",
                                   "--calls",
                                   "1",
                                   "--device",
                                   "cpu",
                                   "--model",
                                   "openai/one",
                                   "--model",
                                   "openai/two",
                                   "--set",
                                   "endpoint.base_url=" + endpoint.base_url(),
                                   "--set",
                                   "endpoint.api_key_env=OPENAI_API_KEY",
                                   "--set",
                                   "evaluation.time_budget=20ms",
                                   "--set",
                                   "run.max_variants=1"};
  ProgramOptions options;
  options.environment["OPENAI_API_KEY"] = "sk-e2e";
  process::ChildProcess child(winnow_command(command, options));
  for (int i = 0; endpoint.requests().empty() && child.running() && i < 3000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10)); // until the call is in flight
  }
  ASSERT_EQ(endpoint.requests().size(), 1U);
  kill(child.pid(), SIGINT);
  const process::ChildResult stopped = child.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("0 of 2 runs of this bench have ended; to go on, repeat the "
                                     "command with --resume"));
  command.emplace_back("--resume");
  const ProgramResult finished = run_winnow(command, options);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(rows_of(json_output(finished)),
              UnorderedElementsAre("one, one-plus-one: finished", "two, one-plus-one: finished"));
  EXPECT_EQ(endpoint.requests().size(), 3U);
}

TEST_F(BenchOfStrategies, RefusesWhatItCannotCompare) {
  const auto error = [&](const std::vector<std::string>& models,
                         const std::vector<std::string>& strategies,
                         const std::vector<std::string>& more = {}) {
    const ProgramResult result = compare(models, strategies, more);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_FALSE(fs::exists(store())) << "no model was asked";
    return result.err;
  };
  const std::string two_runs = "two runs would have the model 'right' and the strategy 'archive'";
  EXPECT_THAT(error({"right"}, {"archive", "archive"}), HasSubstr(two_runs));
  EXPECT_THAT(error({"right", "right"}, {"archive"}), HasSubstr(two_runs));
  fs::create_directory(folder_.path() / "b");
  fs::copy(recording("wrong"), recording("b/right"));
  EXPECT_THAT(error({"right", "b/right"}, {"archive"}), HasSubstr(two_runs));
  EXPECT_THAT(error({"right"}, {"archiv"}), HasSubstr("did you mean 'archive'?"));
  EXPECT_THAT(error({"right"}, {"archive"}, {"--set", "run.strategy=best-of-n"}),
              HasSubstr("--strategy archive contradicts --set run.strategy=best-of-n"));
  EXPECT_THAT(error({"missing"}, {}), HasSubstr("missing.jsonl"));
  write_file_atomic(recording("other"), R"({"schema": "winnow.call", "version": 1, "key": "x/0/0",)"
                                        R"( "reply": ""})");
  EXPECT_THAT(error({"other"}, {}), HasSubstr("has no reply for any task of the suite"));
  write_file_atomic(suite_, "tasks = []");
  EXPECT_THAT(error({"right"}, {}), HasSubstr("two.toml:1"));
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
