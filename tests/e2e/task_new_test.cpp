// Tests `winnow tasks new` of the real program: the skeleton becomes a proven task once its marked
// places are filled, as docs/task.md does.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

void fill(const fs::path& file, const std::string& mark, const std::string& text) {
  std::string content = read_file(file, 1U << 20U);
  const std::size_t at = content.find(mark);
  ASSERT_NE(at, std::string::npos) << mark;
  write_file_atomic(file, content.replace(at, mark.size(), text));
}

void remove_marks(const fs::path& file) {
  while (read_file(file, 1U << 20U).find("TO DO") != std::string::npos) {
    fill(file, "TO DO", "Done");
  }
}

// L1 normalisation of rows.
void fill_all(const fs::path& task) {
  fill(task / "task.toml", "TO DO: the name of the operation", "L1 normalisation of rows");
  fill(task / "task.toml", "TO DO: the formula", "y[r][c] = scale * x[r][c] / sum of |x[r][j]|");
  fill(task / "reference.cu", "(term, 0);", "(term, fabs((double)x[row * cols + c]));");
  fill(task / "reference.cu", "y[at] = 0;", "y[at] = scale * (double)x[at] / sum;");
  fill(task / "reference.cu", "magnitude[at] = 0;", "magnitude[at] = fabs(y[at]);");
  for (const char* kernel : {"baseline.cu", "honest/thread_a_row.cu"}) {
    fill(task / kernel, "+= 0.0f;", "+= fabsf(in[c]);");
    fill(task / kernel, "out[c] = 0.0f;", "out[c] = scale * in[c] / sum;");
  }
  fill(task / "reference.py", "torch.zeros_like(x)",
       "self.scale * x / x.abs().sum(dim=1, keepdim=True)");
  for (const char* file : {"task.toml", "reference.cu", "baseline.cu", "reference.py"}) {
    remove_marks(task / file);
  }
}

json selftest(const fs::path& task) {
  return json_output(run_winnow({"tasks", "selftest", task.string(), "--seeds", "2", "--json"}))
      .at("tasks")
      .at(0);
}

TEST(TaskNew, TheSkeletonIsATaskOnceItsPlacesAreFilled) {
  const TemporaryDirectory folder("task-new-test");
  const fs::path task = folder.path() / "normalization/l1_normalize";
  const ProgramResult made = run_winnow({"tasks", "new", task.string()});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("winnow tasks selftest " + task.string()));
  const ProgramResult unfilled = run_winnow({"tasks", "selftest", task.string()});
  EXPECT_EQ(unfilled.exit_code, 2);
  EXPECT_THAT(unfilled.err, HasSubstr("task.toml:3:9: 'title' is still to be written"));

  fill_all(task);
  const json filled = selftest(task);
  for (const json& mutant : filled.at("mutants")) {
    EXPECT_NE(mutant.at("state"), "accepted") << mutant;
  }
  for (const json& kernel : filled.at("honest")) {
    EXPECT_EQ(kernel.at("state"), "accepted") << kernel;
  }
}

TEST(TaskNew, ATaskWithAnUnfilledFileIsRefused) {
  const TemporaryDirectory folder("task-new-test");
  const fs::path task = folder.path() / "normalization/l1_normalize";
  run_winnow({"tasks", "new", task.string()});
  fill(task / "task.toml", "TO DO: the name of the operation", "L1 normalisation of rows");
  fill(task / "task.toml", "TO DO: the formula", "The formula");
  for (const std::string kernel : {"", "baseline.cu"}) {
    const ProgramResult unwritten =
        kernel.empty() ? run_winnow({"tasks", "selftest", task.string()})
                       : run_winnow({"eval", task.string(), (task / kernel).string()});
    EXPECT_EQ(unwritten.exit_code, 2);
    EXPECT_THAT(unwritten.err,
                HasSubstr("task.toml:1: this place is still to be filled, and models read the "
                          "file; also task.toml:2, task.toml:7, "));
  }
  remove_marks(task / "task.toml");
  const ProgramResult unwritten = run_winnow({"tasks", "selftest", task.string()});
  EXPECT_EQ(unwritten.exit_code, 2);
  EXPECT_THAT(unwritten.err, HasSubstr("reference.py:6: this place is still to be filled"));
}

TEST(TaskNew, OptionsOfModulesNeedAModule) {
  const ProgramResult result = run_winnow({"tasks", "new", "mine", "--mode", "train"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--mode requires --from"));
}

} // namespace
} // namespace winnow::test
