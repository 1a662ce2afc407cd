#include "base/error.h"
#include "remote/task_parcels.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

const std::string kCatalogue = std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue";

using Sizes = std::vector<std::map<std::string, std::int64_t>>;

Sizes sizes_of(const tasks::Task& task, tasks::ShapeSet set) {
  Sizes sizes;
  for (const tasks::Shape& shape : task.shapes) {
    if (shape.set == set) {
      sizes.push_back(shape.axes);
    }
  }
  return sizes;
}

TEST(VisibleTask, HidesTheHeldOutShapesOfEveryTaskOfTheCatalogue) {
  for (const tasks::CatalogueEntry& entry : tasks::list_tasks(kCatalogue)) {
    const tasks::Task task = tasks::load_task(entry.folder);
    const tasks::Task visible = without_held_out(task);
    EXPECT_NE(visible.digest, task.digest) << entry.name;
    EXPECT_EQ(visible.name, task.name);
    const auto promotion = sizes_of(task, tasks::ShapeSet::Promotion);
    EXPECT_EQ(sizes_of(visible, tasks::ShapeSet::HeldOut), promotion) << entry.name;
    EXPECT_EQ(sizes_of(visible, tasks::ShapeSet::Promotion), promotion) << entry.name;
    EXPECT_EQ(sizes_of(visible, tasks::ShapeSet::Search), sizes_of(task, tasks::ShapeSet::Search));
  }
}

TEST(VisibleTask, KeepsBothBaselines) {
  tasks::Task task = tasks::load_task(kCatalogue + "/blas/axpy");
  const std::string for_gpus = task.baseline;
  task.cpu_baseline = "for the CPU";
  tasks::take_baseline_of(task, "cpu");
  EXPECT_EQ(without_held_out(task).baseline, for_gpus);
  EXPECT_EQ(without_held_out(task).cpu_baseline, "for the CPU");
}

TEST(VisibleTask, RefusesATaskThatHidesWhereTheShapesAre) {
  tasks::Task task = tasks::load_task(kCatalogue + "/blas/axpy");
  for (std::size_t at = 0;
       (at = task.task_toml.find("[[shapes.held_out]]", at)) != std::string::npos;) {
    task.task_toml.replace(at, 19, "[[ shapes.held_out ]]");
  }
  EXPECT_THROW(without_held_out(task), Error);
  task.task_toml = "no task";
  EXPECT_THROW(without_held_out(task), Error);
}

} // namespace
} // namespace winnow::remote
