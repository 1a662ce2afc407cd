#include "base/error.h"
#include "base/files.h"
#include "tasks/catalogue.h"
#include "tasks/suite.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kCatalogueFolder = WINNOW_CATALOGUE;

std::string suite_error(const std::string& name) {
  try {
    load_suite(kCatalogueFolder, name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Suite, IsAFolderWithItsSubfolders) {
  const std::vector<SuiteTask> all = load_suite(kCatalogueFolder, kCatalogueFolder.string());
  EXPECT_EQ(all.size(), list_tasks(kCatalogueFolder).size());
  EXPECT_EQ(all.front().folder, list_tasks(kCatalogueFolder).front().category);
  const std::vector<SuiteTask> category = load_suite(kCatalogueFolder, "reduction");
  ASSERT_FALSE(category.empty());
  EXPECT_EQ(category.front().folder, "");
  EXPECT_EQ(load_suite(kCatalogueFolder, (kCatalogueFolder / "blas/axpy").string()).at(0).task.name,
            "axpy");
}

TEST(Suite, IsAListOfTasksAndCategories) {
  EXPECT_EQ(load_suite(kCatalogueFolder, "all").size(), list_tasks(kCatalogueFolder).size());
  const std::vector<SuiteTask> smoke = load_suite(kCatalogueFolder, "smoke");
  EXPECT_EQ(smoke.front().task.name, "axpy");
  EXPECT_EQ(smoke.front().folder, "blas");
  const TemporaryDirectory folder("suite-test");
  const std::string file = (folder.path() / "mine.toml").string();
  write_file_atomic(file, "tasks = ['stencil2d', 'reduction', 'row_softmax']");
  EXPECT_THAT(suite_error(file), HasSubstr("two tasks of the suite"));
  write_file_atomic(file, "tasks = ['no_such_task']");
  EXPECT_THAT(suite_error(file), HasSubstr("mine.toml:1:10: no task or category 'no_such_task'"));
  write_file_atomic(file, "tasks = [\n  'axpy',\n  'gem_f32' ]");
  EXPECT_THAT(suite_error(file), HasSubstr("mine.toml:3:3: no task or category 'gem_f32'; did you "
                                           "mean 'gemm_f32'?"));
  write_file_atomic(file, "tasks = ['reductoin']");
  EXPECT_THAT(suite_error(file), HasSubstr("did you mean 'reduction'?"));
  write_file_atomic(file, "tasks = ['']");
  EXPECT_THAT(suite_error(file), HasSubstr("mine.toml:1:10: no task or category ''"));
  write_file_atomic(file, "tasks = ['../../../../etc']");
  EXPECT_THAT(suite_error(file), HasSubstr("mine.toml:1:10: no task or category"));
  write_file_atomic(file, "tasks = 'axpy'");
  EXPECT_THAT(suite_error(file), HasSubstr("mine.toml:1:9: 'tasks' is not a list"));
  write_file_atomic(file, "tasks = ['axpy', 3]");
  EXPECT_THAT(suite_error(file), HasSubstr("mine.toml:1:18: an item of 'tasks' is not a string"));
  write_file_atomic(file, "tasks = []");
  EXPECT_THAT(suite_error(file), HasSubstr("mine.toml:1"));
  write_file_atomic(file, "task = ['axpy']");
  EXPECT_THAT(suite_error(file), HasSubstr("did you mean 'tasks'"));
  EXPECT_THAT(suite_error("not_there.toml"), HasSubstr("not_there.toml"));
  EXPECT_THAT(suite_error("smokee"), HasSubstr("did you mean 'smoke'"));
}

TEST(Suite, EveryShippedSuiteIsPartOfAll) {
  std::set<std::string> all;
  for (const SuiteTask& one : load_suite(kCatalogueFolder, "all")) {
    all.insert(one.task.name);
  }
  for (const char* name : {"smoke", "llm", "science", "hpc", "hard"}) {
    const std::vector<SuiteTask> suite = load_suite(kCatalogueFolder, name);
    EXPECT_FALSE(suite.empty()) << name;
    for (const SuiteTask& one : suite) {
      EXPECT_TRUE(all.contains(one.task.name)) << name << ": " << one.task.name;
    }
  }
}

TEST(Suite, IsInTheOrderOfNumbers) {
  const TemporaryDirectory folder("suite-test");
  for (const char* name : {"10_a", "2_b"}) {
    fs::copy(kCatalogueFolder / "blas/axpy", folder.path() / name, fs::copy_options::recursive);
  }
  EXPECT_EQ(load_suite(kCatalogueFolder, folder.path().string()).at(0).task.name, "2_b");
}

TEST(Suite, TellsScaledFromFlagged) {
  SuiteTask one;
  EXPECT_FALSE(one.is_scaled() || one.is_flagged());
  one.task.source.flags = {"scaled"};
  EXPECT_TRUE(one.is_scaled() && !one.is_flagged());
  one.task.source.flags = {"passes: zeros", "scaled"};
  EXPECT_TRUE(one.is_scaled() && one.is_flagged());
}

TEST(Suite, RefusesWhatIsNone) {
  const TemporaryDirectory folder("suite-test");
  EXPECT_THAT(suite_error("reductoin"), HasSubstr("did you mean 'reduction'"));
  EXPECT_THAT(suite_error("axpy"), HasSubstr("; it is a task: `winnow run --task axpy`"));
  EXPECT_THAT(suite_error(folder.path().string()), HasSubstr("no tasks in the folder"));
  for (const char* level : {"level1", "level2"}) {
    fs::create_directories(folder.path() / level);
    fs::copy(kCatalogueFolder / "blas/axpy", folder.path() / level / "axpy",
             fs::copy_options::recursive);
  }
  EXPECT_THAT(suite_error(folder.path().string()), HasSubstr("two tasks of the suite"));
}

} // namespace
} // namespace winnow::tasks
