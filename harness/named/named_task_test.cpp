#include "base/error.h"
#include "base/files.h"
#include "harness/cli.h"
#include "harness/named/named_task.h"
#include "store/task_notes.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task_word.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A task outside of the catalogue, with two kernels in a store.
class NamedTask : public testing::Test {
protected:
  NamedTask() {
    fs::create_directories(folder_.parent_path());
    fs::copy(fs::path(WINNOW_SOURCE_DIR) / "tasks/catalogue/blas/axpy", folder_,
             fs::copy_options::recursive);
    store::RunStore store(store_, store::RunStore::Mode::ReadWrite);
    const store::RowId run =
        store.create_run("mine", {{"kind", "person"}}, nlohmann::json::object());
    const store::RowId task = store.add_task(tasks::load_task(folder_));
    for (const char* text : {"first", "second"}) {
      store::CandidateRow row;
      row.origin = "person";
      row.text = text;
      const store::RowId candidate = store.add_candidate(run, task, row);
      tasks::Evaluation evaluation;
      evaluation.verdict = tasks::Verdict::Wrong;
      store.add_evaluations(candidate, {evaluation});
    }
  }

  std::string output(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    code_ = run_cli(arguments);
    err_ = testing::internal::GetCapturedStderr();
    return testing::internal::GetCapturedStdout();
  }

  TemporaryDirectory directory_{"named-task-test"};
  fs::path folder_ = directory_.path() / "my tasks" / "own_axpy";
  std::string store_ = (directory_.path() / "mine.db").string();
  int code_ = -1;
  std::string err_;
};

TEST_F(NamedTask, IsNotSoughtInAFolderThatAnotherUserHasStored) {
  const std::string state = user_state_directory().string();
  setenv("XDG_STATE_HOME", (directory_.path() / "other").c_str(), 1);
  EXPECT_THROW(named_task("own_axpy", store_), UsageError);
  setenv("XDG_STATE_HOME", fs::path(state).parent_path().c_str(), 1);
  EXPECT_EQ(named_task("own_axpy", store_).folder, folder_);
}

TEST_F(NamedTask, IsFoundByItsNameInTheStoreThatRemembersItsFolder) {
  EXPECT_EQ(named_task("own_axpy", store_).folder, folder_);
  EXPECT_EQ(named_task(folder_.string() + "/", store_).name, "own_axpy");
  EXPECT_EQ(named_task("axpy", store_).category, "blas");
  const store::RunStore store(store_, store::RunStore::Mode::ReadOnly);
  EXPECT_EQ(task_of_store(store, "own_axpy").folder, folder_);
  EXPECT_EQ(task_of_store(store, "row_softmax").category, "reduction");
}

TEST_F(NamedTask, SaysWhereTheFolderWasThatIsGone) {
  fs::rename(folder_, directory_.path() / "elsewhere");
  try {
    named_task("own_axpy", store_);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder_.string()));
    EXPECT_THAT(error.remedy(), HasSubstr("name the folder"));
  }
}

TEST_F(NamedTask, TheStoreFollowsATaskThatMoves) {
  const fs::path moved = directory_.path() / "moved" / "own_axpy";
  fs::create_directories(moved.parent_path());
  fs::rename(folder_, moved);
  store::RunStore store(store_, store::RunStore::Mode::ReadWrite);
  store.add_task(tasks::load_task(moved));
  EXPECT_EQ(store::task_folder(store, "own_axpy"), moved.string());
}

TEST_F(NamedTask, AFilterSaysWhereATaskIsNow) {
  const fs::path moved = directory_.path() / "moved" / "own_axpy";
  fs::create_directories(moved.parent_path());
  fs::rename(folder_, moved);
  EXPECT_EQ(name_in_stores(moved.string()), "own_axpy");
  const store::RunStore store(store_, store::RunStore::Mode::ReadOnly);
  EXPECT_EQ(task_of_store(store, "own_axpy").folder, moved);
}

TEST_F(NamedTask, WordsOfHintsAreFolders) {
  EXPECT_EQ(tasks::task_word(tasks::load_task(folder_)), "'" + folder_.string() + "'");
  EXPECT_EQ(tasks::task_word(named_task("blas/axpy")), "axpy");
  EXPECT_EQ(tasks::folder_word(fs::current_path() / "mine"), "./mine");
  EXPECT_EQ(tasks::folder_word(fs::current_path()), ".");
  EXPECT_EQ(tasks::folder_word(fs::current_path() / "math/mine"), "math/mine");
  EXPECT_THAT(output({"tasks", "template", folder_.string()}),
              HasSubstr("Then: winnow eval '" + folder_.string() + "' FILE"));
}

TEST_F(NamedTask, FiltersTakeAFolder) {
  EXPECT_EQ(name_in_stores(folder_.string() + "/"), "own_axpy");
  EXPECT_EQ(name_in_stores("blas/axpy"), "axpy");
  EXPECT_EQ(name_in_stores("axpy"), "axpy");
  output({"leaderboard", "--store", store_, "--task", folder_.string()});
  EXPECT_EQ(code_, 0) << err_;
}

TEST_F(NamedTask, IsRefusedByWhateverJudgesUntilItIsFilledIn) {
  const std::string task = folder_.string(), kernel = (folder_ / "baseline.cu").string();
  const std::vector<std::vector<std::string>> judging{
      {"eval", task, kernel},
      {"eval", task, kernel, "--compile-only"},
      {"race", task, kernel, kernel},
      {"profile", task, kernel},
      {"tune", task, kernel},
      {"tasks", "selftest", task},
      {"tasks", "selftest", task, "--write-golden"},
      {"baseline", "torch", task},
      {"baseline", "table", task},
      {"baseline", "gpus", task},
      {"serve", "--judge", "--store", store_, "--task", task, "--bind", "127.0.0.1:0"},
      {"run", "quickstart", "--task", task, "--device", "cpu", "--store", store_}};
  const std::string python = read_file(folder_ / "reference.py", 1U << 20U);
  for (const std::string& text :
       {python + "# TO DO: the sizes\n", std::string("class Model: pass\n")}) {
    write_file_atomic(folder_ / "reference.py", text);
    for (const std::vector<std::string>& command : judging) {
      output(command);
      EXPECT_EQ(code_, 2) << command.front() << ": " << err_;
      EXPECT_THAT(err_, HasSubstr((folder_ / "reference.py:").string())) << command.front();
    }
    EXPECT_THROW(task_of_store({store_, store::RunStore::Mode::ReadOnly}, "own_axpy"), UsageError);
    EXPECT_THAT(output({"tasks", "show", task}), HasSubstr("own_axpy")) << err_;
    EXPECT_THAT(output({"tasks", "template", task}), HasSubstr("winnow eval")) << err_;
  }
}

TEST_F(NamedTask, CommandsWithoutAStoreLookIntoTheUsualOne) {
  setenv("WINNOW_STORE", store_.c_str(), 1);
  EXPECT_THAT(output({"tasks", "show", "own_axpy"}), HasSubstr("own_axpy")) << err_;
  unsetenv("WINNOW_STORE");
}

} // namespace
} // namespace winnow::harness
