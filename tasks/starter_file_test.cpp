#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/starter_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(StarterFile, HasAPlanThatHoldsAtEveryShapeOfTheCatalogue) {
  for (const CatalogueEntry& entry : list_tasks(WINNOW_CATALOGUE)) {
    const Task task = load_task(entry.folder);
    Task named = task;
    named.name = entry.name;
    const KernelFileResult parsed = parse_kernel_file(starter_file(named), entry.name + ".cu");
    ASSERT_TRUE(parsed.kernel_file) << entry.name << ": " << to_string(parsed.errors.front());
    EXPECT_TRUE(parsed.warnings.empty()) << to_string(parsed.warnings.front());
    std::vector<Diagnostic> errors;
    const auto names =
        kernel_names(*parsed.kernel_file, named, named.shapes, {{"BLOCK", 256}}, {}, errors);
    EXPECT_TRUE(errors.empty()) << to_string(errors.front());
    EXPECT_EQ(names.size(), 1U) << entry.name;
  }
}

TEST(StarterFile, NamesTheTensors) {
  const std::string text = starter_file(find_task(WINNOW_CATALOGUE, "axpy"));
  for (const char* part :
       {"\"args\": [\"x\", \"y\", \"z\", \"alpha\", \"n\"]", "const float* __restrict__ x",
        "float* __restrict__ z", "float alpha", "long long n", "// AXPY.\n", "winnow eval axpy"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(StarterFile, TellsHowToReadFloatsThatAreCodes) {
  Task task = find_task(WINNOW_CATALOGUE, "axpy");
  EXPECT_THAT(starter_file(task), Not(HasSubstr("OCP")));
  task.tensors[0].dtype = DType::F4E2M1X2;
  task.tensors[1].dtype = DType::F8E8M0;
  EXPECT_THAT(starter_file(task), AllOf(HasSubstr("OCP e2m1"), HasSubstr("OCP e8m0"),
                                        HasSubstr("const unsigned char* __restrict__ x")));
}

} // namespace
} // namespace winnow::tasks
