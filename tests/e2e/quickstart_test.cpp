// The recording behind the quickstart holds what models really send: each kind of mistake is there
// and gets its verdict, and later replies improve on earlier ones.
#include "base/files.h"
#include "base/text.h"
#include "tasks/catalogue.h"
#include "tests/e2e/prompt_leak.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

// Every message that was ever sent, of every task.
int prompts_without_hidden_shapes(const std::string& store) {
  SQLite::Database database(store, SQLite::OPEN_READONLY);
  SQLite::Statement rows(database,
                         "SELECT t.name, m.text FROM call_messages AS m JOIN model_calls AS c ON "
                         "c.id = m.call_id JOIN tasks AS t ON t.id = c.task_id");
  int prompts = 0;
  for (; rows.executeStep(); ++prompts) {
    const tasks::Task task =
        tasks::find_task(project_folder() / "tasks/catalogue", rows.getColumn(0).getString());
    for (const std::string& word :
         words_in(without_measurements(outside_code(rows.getColumn(1).getString())),
                  hidden_words(task))) {
      ADD_FAILURE() << task.name << ": a prompt says '" << word
                    << "', which is of a hidden shape:\n"
                    << rows.getColumn(1).getString();
    }
  }
  return prompts;
}

TEST(PromptLeak, IsSeenWhereThereIsOne) {
  const tasks::Task task = tasks::find_task(project_folder() / "tasks/catalogue", "row_softmax");
  const std::set<std::string> hidden = hidden_words(task);
  EXPECT_TRUE(hidden.contains("509"));
  EXPECT_FALSE(hidden.contains("1024")) << "a search shape has it";
  EXPECT_EQ(words_in("1509, 509.5, 0.509, x509", {"509"}), std::vector<std::string>{});
  EXPECT_EQ(words_in("wrong at cols = 509.", {"509"}), std::vector<std::string>{"509"});
  EXPECT_EQ(words_in("wrong at (rows=37, cols=509)", hidden),
            (std::vector<std::string>{"509", "rows=37, cols=509"}));
  EXPECT_EQ(outside_code("a 509\n```cuda\nif (i == 509)\n```\nb\n"), "a 509\nb\n");
}

TEST(PromptLeak, IsNoMeasurement) {
  const std::set<std::string> hidden = {"509"};
  for (const char* measured : {"took 509 us", "(509 ns, 9 launches)", "509 kB read", "at 509 %",
                               "509.0x faster", "conflicts 3.1e+03 -> 509;"}) {
    EXPECT_EQ(words_in(without_measurements(measured), hidden), std::vector<std::string>{})
        << measured;
  }
  for (const char* leak : {"wrong at 509", "509 sums", "509 x 3", "509, 12 us", "-> 509 columns",
                           "cols=509: 12 us", "509 per cent of us"}) {
    EXPECT_EQ(words_in(without_measurements(leak), hidden), std::vector<std::string>{"509"})
        << leak;
  }
}

/// The lines of `winnow export training` of one selection.
std::vector<nlohmann::json> training_lines(const std::string& store, const std::string& selection) {
  const ProgramResult result =
      run_winnow({"export", "training", "--select", selection, "--store", store});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("from 42 replies of models"), std::string::npos) << result.err;
  std::vector<nlohmann::json> lines;
  for (const std::string_view line : split_lines(result.out)) {
    EXPECT_EQ(line.find(std::filesystem::path(store).parent_path().string()), line.npos);
    EXPECT_EQ(line.find("held_out"), line.npos);
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

void expect_training_data(const std::string& store) {
  for (const nlohmann::json& line : training_lines(store, "supervised")) {
    EXPECT_EQ(line.value("verdict", ""), "correct");
    EXPECT_GT(line.value("speedup_low", 0.0), 1);
    EXPECT_GE(line.at("messages").size(), 2U);
    EXPECT_NE(line.value("kernel_file", ""), "");
  }
  std::map<std::string, int> verdicts;
  for (const nlohmann::json& line : training_lines(store, "rewards")) {
    const std::string verdict = line.value("verdict", "");
    ++verdicts[verdict];
    EXPECT_EQ(line.value("reward", 0.0) > 0, verdict == "correct") << line;
  }
  EXPECT_GE(verdicts.size(), 7U);
  EXPECT_FALSE(verdicts.contains("unsupported")) << "it is no fault of the reply";
  EXPECT_TRUE(training_lines(store, "preferences").empty()) << "each reply has its own prompt";
  const ProgramResult nowhere =
      run_winnow({"export", "training", "--store", store, "--output", "/nonexistent/a.jsonl"});
  EXPECT_NE(nowhere.exit_code, 0);
  EXPECT_NE(nowhere.err.find("/nonexistent/a.jsonl: cannot be written"), std::string::npos);
}

TEST(Quickstart, EndsWithARankedLeaderboardOfAllSixTasks) {
  const TemporaryDirectory directory("quickstart");
  const std::string store = directory.path() / "quickstart.db";
  ProgramOptions options;
  options.timeout = std::chrono::minutes(10);
  const ProgramResult run =
      run_winnow({"run", "configs/quickstart.toml", "--store", store, "--set", "run.max_variants=1",
                  "--set", "evaluation.time_budget=10ms", "--set", "run.finalists=3"},
                 options);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_GE(prompts_without_hidden_shapes(store), 36);
  expect_training_data(store);
  const nlohmann::json all = json_output(run_winnow({"export", "json", "--store", store}));
  std::map<std::string, int> tried;
  std::set<std::string> improved, verdicts;
  for (const nlohmann::json& candidate : all.at("candidates")) {
    const std::string task = candidate.value("task", "");
    tried[task] += candidate.value("origin", "") == "model" ? 1 : 0;
    verdicts.insert(candidate.value("verdict", ""));
    const nlohmann::json& evaluation = candidate.at("evaluation");
    if (!evaluation.is_null() && candidate.value("origin", "") == "model" &&
        candidate.value("verdict", "") == "correct" && evaluation.value("speedup", 0.0) > 1.2) {
      improved.insert(task);
    }
  }
  EXPECT_EQ(tried.size(), 6U);
  for (const auto& [task, count] : tried) {
    EXPECT_GE(count, 6) << task;
  }
  EXPECT_GE(improved.size(), 5U) << "axpy is bound by memory, the others are not";
  for (const char* verdict : {"bad_reply", "bad_plan", "compile_error", "out_of_bounds", "wrong",
                              "modified_input", "wrong_unseen", "unsupported", "correct"}) {
    EXPECT_TRUE(verdicts.contains(verdict)) << verdict;
  }
}

} // namespace
} // namespace winnow::test
