#include "base/files.h"
#include "tasks/catalogue.h"
#include "tasks/exemplar.h"
#include "tasks/parse/task_parse.h"

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

namespace fs = std::filesystem;

TEST(Exemplar, IsTheBaselineOfTheNextTaskOfTheCategory) {
  const fs::path stencil = fs::path(WINNOW_CATALOGUE) / "stencil";
  const auto next = exemplar_for(load_task(stencil / "jacobi"), "cuda");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->name, "lbm_d2q9");
  EXPECT_EQ(next->text, load_task(stencil / "lbm_d2q9").baseline);
  EXPECT_EQ(next->title, load_task(stencil / "lbm_d2q9").title);
}

TEST(Exemplar, IsNeverTheTasksOwn) {
  for (const CatalogueEntry& entry : list_tasks(WINNOW_CATALOGUE)) {
    const Task task = load_task(entry.folder);
    const auto exemplar = exemplar_for(task, "cuda");
    EXPECT_TRUE(!exemplar || exemplar->name != task.name) << task.name;
    EXPECT_TRUE(!exemplar || exemplar->text != task.baseline) << task.name;
  }
}

TEST(Exemplar, SkipsTasksThatDoNotLoadAndMayBeMissing) {
  const TemporaryDirectory folder("exemplar-test");
  const fs::path axpy = fs::path(WINNOW_CATALOGUE) / "blas/axpy";
  fs::create_directories(folder.path() / "mine");
  fs::copy(axpy, folder.path() / "mine/axpy", fs::copy_options::recursive);
  const Task task = load_task(folder.path() / "mine/axpy");
  EXPECT_FALSE(exemplar_for(task, "cuda"));
  fs::create_directories(folder.path() / "mine/broken");
  write_file_atomic(folder.path() / "mine/broken/baseline.cu", "");
  EXPECT_FALSE(exemplar_for(task, "cuda"));
  EXPECT_FALSE(exemplar_for(Task{}, "cuda"));
}

} // namespace
} // namespace winnow::tasks
