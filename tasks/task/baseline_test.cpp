#include "base/error.h"
#include "base/files.h"
#include "tasks/catalogue.h"
#include "tasks/exemplar.h"
#include "tasks/parse/task_parse.h"
#include "tasks/reference_check.h"
#include "tasks/task/baseline.h"
#include "tasks/task/speedup_versus.h"
#include "tasks/testing/copy_task_fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;

const std::string kBothToml = std::string(kCopyTaskToml) + R"(
[[shapes.tiny]]
n = 1
[[shapes.search]]
n = 1000
[[shapes.promotion]]
n = 1009
[[shapes.held_out]]
n = 997
)";

Task with_both() {
  return parse_task({kBothToml, "reference", "for GPUs", "python", "for the CPU"}, "task.toml");
}

TEST(Baseline, OfTheCpuIsPartOfTheDigestOnlyIfItIsThere) {
  const Task none = parse_task({kBothToml, "reference", "for GPUs", "python"}, "task.toml");
  EXPECT_EQ(parse_task({kBothToml, "reference", "for GPUs", "python", ""}, "f").digest,
            none.digest);
  EXPECT_NE(with_both().digest, none.digest);
  EXPECT_NE(parse_task({kBothToml, "reference", "for GPUs", "python", "another"}, "f").digest,
            with_both().digest);
}

TEST(Baseline, DependsOnTheKindOfDevice) {
  for (const char* kind : {"cuda", "hip"}) {
    Task task = with_both();
    take_baseline_of(task, kind);
    EXPECT_EQ(task.baseline, "for GPUs") << kind;
    EXPECT_STREQ(baseline_file(task), "baseline.cu") << kind;
  }
  Task task = with_both();
  for (int time = 0; time < 2; ++time) {
    take_baseline_of(task, "cpu");
    EXPECT_EQ(task.baseline, "for the CPU");
    EXPECT_STREQ(baseline_file(task), "baseline.cpu.cu");
    EXPECT_EQ(speedup_versus(task), "baseline.cpu.cu");
    EXPECT_EQ(speedup_versus(task, "cuda"), "baseline.cu");
    EXPECT_EQ(task.digest, with_both().digest);
    EXPECT_EQ(parse_task(task_texts(task), "task.toml").digest, task.digest);
  }
}

TEST(Baseline, StaysWhereTheTaskHasOneForAllDevices) {
  Task task = parse_task({kBothToml, "reference", "for all", "python"}, "task.toml");
  take_baseline_of(task, "cpu");
  EXPECT_EQ(task.baseline, "for all");
  EXPECT_STREQ(baseline_file(task), "baseline.cu");
  task.baseline.clear();
  EXPECT_EQ(speedup_versus(task), kVersusEager);
}

class BaselineFiles : public testing::Test {
protected:
  BaselineFiles() {
    for (const char* name : {"a", "b"}) {
      write_file_atomic(folder(name) / "task.toml", kBothToml);
      for (const char* file : {"reference.cu", "baseline.cu", "baseline.cpu.cu", "reference.py"}) {
        write_file_atomic(folder(name) / file, file);
      }
    }
  }
  std::filesystem::path folder(const std::string& name) const {
    const std::filesystem::path path = root_.path() / name;
    std::filesystem::create_directories(path);
    return path;
  }

private:
  TemporaryDirectory root_{"baseline-test"};
};

TEST_F(BaselineFiles, AreLoaded) {
  const Task task = load_task(folder("a"));
  EXPECT_EQ(task.baseline, "baseline.cu");
  EXPECT_EQ(task.cpu_baseline, "baseline.cpu.cu");
}

TEST_F(BaselineFiles, AreExamplesForTheirDevices) {
  const Task task = load_task(folder("a"));
  EXPECT_EQ(exemplar_for(task, "cpu")->text, "baseline.cpu.cu");
  EXPECT_EQ(exemplar_for(task, "cuda")->text, "baseline.cu");
}

TEST_F(BaselineFiles, OfTheCpuAloneIsRefused) {
  write_file_atomic(folder("a") / "task.toml", kBothToml + "[reference]\nkind = \"torch\"\n");
  std::filesystem::remove(folder("a") / "reference.cu");
  EXPECT_EQ(load_task(folder("a")).cpu_baseline, "baseline.cpu.cu");
  std::filesystem::remove(folder("a") / "baseline.cu");
  try {
    load_task(folder("a"));
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a/baseline.cpu.cu: there is no baseline.cu beside it"));
  }
}

TEST(Baseline, OfTheCpuIsNamedWhenItIsStillToBeFilled) {
  Task task = find_task(WINNOW_CATALOGUE, "axpy");
  task.cpu_baseline = "// TO DO: a decent kernel";
  take_baseline_of(task, "cpu");
  try {
    check_reference(task);
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("axpy/baseline.cpu.cu:1"));
  }
}

} // namespace
} // namespace winnow::tasks
