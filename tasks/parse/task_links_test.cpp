// Links in a task folder that somebody else has made.
#include "base/error.h"
#include "base/files.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task_file.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class TaskLinks : public testing::Test {
protected:
  TaskLinks() {
    fs::create_directories(task_.parent_path());
    fs::copy(fs::path(WINNOW_CATALOGUE) / "blas/axpy", task_, fs::copy_options::recursive);
    write_file_atomic(secret_, "the secret of the reader");
  }

  std::string error_with_link(const fs::path& file, const fs::path& target) const {
    fs::remove(task_ / file);
    fs::create_symlink(target, task_ / file);
    try {
      load_task(task_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryDirectory folder_{"links"};
  fs::path task_ = folder_.path() / "mine/axpy";
  fs::path secret_ = folder_.path() / "mine/axpy-secret";
};

TEST_F(TaskLinks, NoFileOfATaskLeadsOutOfItsFolder) {
  for (const char* file : {"reference.cu", "baseline.cu", "reference.py", "task.toml"}) {
    for (const fs::path& target : {secret_, fs::path("../axpy-secret"), fs::path("/etc/passwd")}) {
      EXPECT_THAT(error_with_link(file, target),
                  AllOf(HasSubstr((task_ / file).string() + " leads to "),
                        HasSubstr(target.filename().string() + ", outside of the folder")));
    }
    fs::remove(task_ / file);
    fs::copy_file(fs::path(WINNOW_CATALOGUE) / "blas/axpy" / file, task_ / file);
  }
}

TEST_F(TaskLinks, NoFolderOfATaskLeadsOutOfIt) {
  fs::create_directory_symlink(folder_.path() / "mine", task_ / "wrong");
  EXPECT_THROW(read_task_file(task_, task_ / "wrong/axpy-secret", 1000), UsageError);
  fs::remove(task_ / "wrong");
  fs::create_directory_symlink(".", task_ / "wrong");
  EXPECT_NE(read_task_file(task_, task_ / "wrong/task.toml", 1U << 20U), "");
}

TEST_F(TaskLinks, MayLeadToTheCatalogueWhoseTasksShareKernels) {
  for (const auto& file :
       fs::directory_iterator(fs::path(WINNOW_CATALOGUE) / "blas/gemm_tf32/honest")) {
    const fs::path task = file.path().parent_path().parent_path();
    EXPECT_NE(read_task_file(task, file.path(), 1U << 20U), "");
  }
  EXPECT_EQ(error_with_link("reference.cu", fs::path(WINNOW_CATALOGUE) / "blas/axpy/reference.cu"),
            "no error");
}

TEST_F(TaskLinks, MayStayInTheFolderOrLeadToIt) {
  fs::rename(task_ / "reference.cu", task_ / "r.cu");
  EXPECT_EQ(error_with_link("reference.cu", "r.cu"), "no error");
  const fs::path link = folder_.path() / "link";
  fs::create_directory_symlink(task_, link);
  EXPECT_EQ(load_task(link).name, "link");
  EXPECT_EQ(load_task(link / "").name, "link");
}

} // namespace
} // namespace winnow::tasks
