#include "base/error.h"
#include "base/files.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/skeleton/skeleton.h"
#include "tasks/task/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::size_t kMaxBytes = 1U << 20U;

void fill(const fs::path& file, const std::string& from, const std::string& to) {
  std::string text = read_file(file, kMaxBytes);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  write_file_atomic(file, text.replace(at, from.size(), to));
}

std::string load_error(const fs::path& folder) {
  try {
    load_task(folder);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Skeleton, LoadsOnceItsTitleAndDescriptionAreWritten) {
  const TemporaryDirectory folder("skeleton-test");
  const fs::path task = folder.path() / "reduction/mean_of_rows";
  EXPECT_EQ(write_skeleton(task).size(), 5U);
  EXPECT_THAT(load_error(task), HasSubstr("task.toml:3:9: 'title' is still to be written"));
  fill(task / "task.toml", "TO DO: the name of the operation", "Mean");
  EXPECT_THAT(load_error(task), HasSubstr("task.toml:4:15: 'description' is still to be written"));
  fill(task / "task.toml", "TO DO: the formula", "The formula");
  const Task loaded = load_task(task);
  EXPECT_EQ(loaded.name, "mean_of_rows");
  EXPECT_EQ(loaded.category, "reduction");
}

TEST(Skeleton, MarksAPlaceInEachFileAndItsKernelFilesAreValid) {
  const TemporaryDirectory folder("skeleton-test");
  const fs::path task = folder.path() / "mine";
  for (const std::string& name : write_skeleton(task)) {
    const std::string text = read_file(task / name, kMaxBytes);
    EXPECT_THAT(text, HasSubstr(kToDo)) << name;
    if (fs::path(name).extension() == ".cu") {
      EXPECT_TRUE(parse_kernel_file(text, name).kernel_file) << name;
    }
  }
}

TEST(Skeleton, OverwritesNothingAndNeedsAName) {
  const TemporaryDirectory folder("skeleton-test");
  EXPECT_THROW(write_skeleton(folder.path()), UsageError);
  EXPECT_THROW(write_skeleton(folder.path() / "a-b"), UsageError);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  write_skeleton(folder.path() / "scan" / "");
  EXPECT_TRUE(fs::exists(folder.path() / "scan/task.toml"));
}

} // namespace
} // namespace winnow::tasks
