#include "tasks/catalogue.h"
#include "tasks/doubts.h"
#include "tasks/parse/task_parse.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kToml = R"(title = "Rows"
description = "y[r] = sum of x[r]"
operations = "rows * cols"
bytes = "4 * rows * cols + 4 * rows"
[axes]
rows = "rows"
cols = "columns"
[tensors.x]
role = "input"
dtype = "f32"
shape = ["rows", "cols"]
generator = { kind = "normal" }
[tensors.y]
role = "output"
dtype = "f32"
shape = ["rows"]
[tolerance]
precision = "f32"
multiple = "1"
[[shapes.tiny]]
rows = 2
cols = 3
[[shapes.search]]
devices = ["cpu"]
rows = 64
cols = 100
[[shapes.search]]
devices = ["cuda", "hip"]
rows = 640
cols = 1000
[[shapes.promotion]]
rows = 61
cols = 101
[[shapes.held_out]]
rows = 31
cols = 211
)";

std::vector<std::string> doubts(const std::string& from, const std::string& to,
                                std::string_view device = "cpu") {
  std::string toml = kToml;
  toml.replace(toml.find(from), from.size(), to);
  return doubts_of(parse_task({toml, "", "", ""}, "task.toml"), device);
}

TEST(Doubts, OfASoundTaskThereAreNone) {
  EXPECT_THAT(doubts("rows", "rows"), IsEmpty());
  EXPECT_THAT(doubts("bytes = \"4 * rows * cols + 4 * rows\"", "bytes = \"4.4 * rows * cols\""),
              IsEmpty());
}

TEST(Doubts, AModuleMayKeepAFixedDistribution) {
  EXPECT_THAT(doubts("{ kind = \"normal\" }\n",
                     "{ kind = \"normal\", mean = 0, std = 1 }\n[reference]\nkind = \"torch\"\n"),
              ElementsAre(HasSubstr("fixed distribution: 'x' has the same in every launch")));
  EXPECT_THAT(doubts("{ kind = \"normal\" }\n", "{ kind = \"uniform\", high = 1 }\n"), IsEmpty());
}

TEST(Doubts, MoreBytesThanTheTensorsHave) {
  EXPECT_THAT(doubts("bytes = \"4 *", "bytes = \"400 *"),
              ElementsAre(HasSubstr("`bytes` is 2.56e+06 at search/0 (rows=64, cols=100), 99 times "
                                    "the 2.586e+04 bytes of the task's tensors")));
}

TEST(Doubts, FewerBytesThanTheOutputsHaveOrMuchFewerThanAllTensors) {
  EXPECT_THAT(doubts("bytes = \"4 * rows * cols + 4 * rows\"", "bytes = \"rows\""),
              ElementsAre(HasSubstr("less than the 256 bytes of the outputs")));
  EXPECT_THAT(doubts("bytes = \"4 * rows * cols + 4 * rows\"", "bytes = \"8 * rows\""),
              ElementsAre(HasSubstr("need not read most of its inputs")));
}

TEST(Doubts, ATensorOfIndicesMaySayWhichPartIsRead) {
  std::string toml = kToml;
  const std::string from = "bytes = \"4 * rows * cols + 4 * rows\"";
  toml.replace(toml.find(from), from.size(), "bytes = \"12 * rows\"");
  toml.insert(toml.find("[tensors.y]"), "[tensors.at]\nrole = \"input\"\ndtype = \"i32\"\nshape = "
                                        "[\"rows\"]\ngenerator = { kind = \"index\", limit = "
                                        "\"cols\" }\n");
  EXPECT_THAT(doubts_of(parse_task({toml, "", "", ""}, "task.toml"), "cpu"), IsEmpty());
}

TEST(Doubts, AHiddenShapeThatPromptsShow) {
  const std::string promotion = "rows = 61\ncols = 101", held_out = "rows = 31\ncols = 211";
  const std::string search = "rows = 64\ncols = 100", module = "[reference]\nkind = \"torch\"\n";
  EXPECT_THAT(doubts(promotion, search + "\n" + module),
              ElementsAre(HasSubstr("promotion/0 has the sizes of search/0 (rows=64, cols=100)")));
  EXPECT_THAT(doubts(held_out, search + "\n" + module),
              ElementsAre(HasSubstr("held_out/0 has the sizes of search/0")));
  EXPECT_THAT(doubts(held_out, "rows = 2\ncols = 3"),
              ElementsAre(HasSubstr("held_out/0 has the sizes of tiny/0")));
  EXPECT_THAT(doubts(held_out, promotion),
              ElementsAre(HasSubstr("held_out/0 has the sizes of promotion/0")));
  EXPECT_THAT(doubts(promotion, search + "\n" + module, "cuda"), IsEmpty())
      << "search/0 is for the cpu";
}

TEST(Doubts, AShapeThatDoesNotFitIntoTheSharedMemory) {
  const std::string promotion = "rows = 61\ncols = 101";
  // 4 bytes an input, 16 bytes for the answer to a row and its magnitude.
  EXPECT_THAT(doubts(promotion, "rows = 67108864\ncols = 12"), IsEmpty());
  EXPECT_THAT(
      doubts(promotion, "rows = 67108864\ncols = 13"),
      ElementsAre(HasSubstr("promotion/0 (rows=67108864, cols=13) needs 4563402752 bytes")));
}

TEST(Doubts, OfTheCatalogueThereAreNone) {
  const std::filesystem::path catalogue = std::filesystem::path(WINNOW_CATALOGUE);
  for (const CatalogueEntry& entry : list_tasks(catalogue)) {
    const Task task = load_task(entry.folder);
    for (const std::string& device : device_kinds()) {
      EXPECT_THAT(doubts_of(task, device), IsEmpty()) << task.name << " on " << device;
    }
  }
}

} // namespace
} // namespace winnow::tasks
