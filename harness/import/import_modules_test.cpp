// Makes tasks of PyTorch modules.
#include "base/error.h"
#include "base/files.h"
#include "harness/import/import_modules.h"
#include "tasks/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// As torch_child.py describes relu(linear(x)) * scale.
json linear() {
  return json::parse(R"json({
    "error": null, "refused": "", "title": "A \"linear\" layer \u2028",
    "axes": [{"name": "batch", "value": 128, "fixed": false}, {"name": "width", "value": 64, "fixed": true}],
    "tensors": [
      {"name": "x", "role": "input", "dtype": "f32", "shape": ["batch", "width"], "state": "", "static": false,
       "generator": {"kind": "normal", "mean": 0.0, "std": 1.0}},
      {"name": "weight", "role": "input", "dtype": "f32", "shape": [16, "width"], "state": "linear.weight",
       "static": true, "generator": {"kind": "normal", "mean": 0.0, "std": 0.02}},
      {"name": "out", "role": "output", "dtype": "f32", "shape": ["batch", 16], "state": "", "static": false}],
    "scalars": [{"name": "scale", "dtype": "f32", "value": 2.0, "low": 1.0, "high": 4.0}],
    "shapes": {"tiny": [{"batch": 8, "width": 64}], "search": [{"batch": 128, "width": 64}],
               "promotion": [{"batch": 31, "width": 64}], "held_out": [{"batch": 29, "width": 64}]},
    "operations": [1000000], "bytes": [1],
    "tolerance": {"precision": "f32", "accumulate": "f32", "multiple": 32.0, "norm_multiple": 4.0, "L": 1.0},
    "reproducible": false, "flags": ["scaled"],
    "mutants": [{"name": "zeros", "passes": true, "passes_kernelbench_1e-4": true, "passes_kernelbench_1e-2": true},
                {"name": "operands in tf32", "passes": false, "passes_kernelbench_1e-4": false,
                 "passes_kernelbench_1e-2": true}]})json");
}

tasks::Task parsed(const json& description) {
  return tasks::parse_task(
      {module_task_toml(description, {"KernelBench level1/1_x.py", "train"}), "", "", "python"},
      "task.toml");
}

double at(const tasks::Task& task, const tasks::Expression& expression, std::size_t shape) {
  tasks::Scope scope;
  tasks::bind_shape(task, task.shapes.at(shape), scope);
  return expression.evaluate_float(scope);
}

TEST(ModuleTask, HasAllThatTheDescriptionSays) {
  const tasks::Task task = parsed(linear());
  EXPECT_EQ(task.title, "A \"linear\" layer \u2028");
  ASSERT_TRUE(task.torch);
  EXPECT_TRUE(task.torch->training);
  EXPECT_EQ(task.source.origin, "KernelBench level1/1_x.py");
  EXPECT_THAT(task.source.flags, ElementsAre("scaled", "passes: zeros"));
  ASSERT_EQ(task.tensors.size(), 3U);
  EXPECT_EQ(task.tensors[1].state, "linear.weight");
  EXPECT_TRUE(task.tensors[1].is_static);
  EXPECT_EQ(task.tensors[2].role, tasks::Role::Output);
  EXPECT_EQ(task.scalars.at(0).high, 4);
  EXPECT_FALSE(task.tolerance.reproducible);
  EXPECT_EQ(task.shapes.size(), 4U);
}

TEST(ModuleTask, CountsBytesAndOperations) {
  const tasks::Task task = parsed(linear());
  const std::size_t tiny = 0, search = 1;
  EXPECT_EQ(at(task, task.bytes, search), 4 * (128 * 64 + 16 * 64 + 128 * 16));
  EXPECT_DOUBLE_EQ(at(task, task.operations, search), 1e6);
  EXPECT_DOUBLE_EQ(at(task, task.operations, tiny), 1e6 * 8 / 128);
}

TEST(ModuleTask, LeavesOutConstantsThatAreNoSizes) {
  json description = linear();
  description["axes"].push_back({{"name", "padding"}, {"value", 0}, {"fixed", true}});
  for (auto& [set, shapes] : description["shapes"].items()) {
    shapes[0]["padding"] = 0;
  }
  const tasks::Task task = parsed(description);
  EXPECT_EQ(task.axes.size(), 2U);
  EXPECT_EQ(task.shapes[0].axes.count("padding"), 0U);
}

TEST(ModuleTask, SaysWhyThereIsNone) {
  json refused = linear();
  refused["refused"] = "the outputs are random";
  EXPECT_THROW(parsed(refused), Error);
}

TEST(ModuleTask, TakesTheWorkOfADefinition) {
  json description = linear();
  description["work"] = {{"elements", "batch"}, {"bytes", "4 * batch"}, {"operations_each", 2.5}};
  const tasks::Task task = parsed(description);
  EXPECT_EQ(at(task, task.bytes, 1), 4 * 128);
  EXPECT_EQ(at(task, task.operations, 1), 2.5 * 128);
}

TEST(ModuleTask, LeavesInputsToTheModule) {
  json computed = linear();
  computed["tensors"][0]["generator"] = {{"kind", "reference"}};
  EXPECT_TRUE(tasks::is_computed(parsed(computed).tensors[0]));
}

class Checkout : public testing::Test {
protected:
  void add(const std::string& file) const {
    std::filesystem::create_directories((root() / file).parent_path());
    write_file_atomic(root() / file, "module");
  }
  const std::filesystem::path& root() const { return folder_.path(); }
  std::vector<std::string> names(int level) const {
    std::vector<std::string> found;
    for (const Module& module : kernelbench_modules(root(), level, "to")) {
      found.push_back(module.folder.string());
      EXPECT_EQ(module.origin.mode, "train");
    }
    return found;
  }

private:
  TemporaryDirectory folder_{"checkout"};
};

TEST_F(Checkout, ListsProblemsInOrder) {
  for (const char* file : {"KernelBench/level1/10_b.py", "KernelBench/level1/9_a.py",
                           "KernelBench/level1/README.md", "KernelBench/level1/__init__.py",
                           "KernelBench/level2/1_c.py", "KernelBench/level4/1_d.py"}) {
    add(file);
  }
  EXPECT_THAT(names(0), ElementsAre("to/level1/9_a", "to/level1/10_b", "to/level2/1_c"));
  EXPECT_THAT(names(2), ElementsAre("to/level2/1_c"));
  EXPECT_THROW(names(3), UsageError);
}

TEST_F(Checkout, MayBeginAtTheLevels) {
  add("level3/1_x.py");
  EXPECT_THAT(names(0), ElementsAre("to/level3/1_x"));
}

TEST(ImportText, CountsByFolder) {
  Imported plain{"to/level1/1_a", "", false, {}, 1, 2};
  Imported flagged{"to/level1/2_b", "", false, {"scaled", "passes: zeros"}, 0, 1};
  Imported refused{"to/level2/3_c", "no module", false, {}, 0, 0};
  EXPECT_EQ(
      import_text({plain, flagged, refused}),
      "flagged: 2_b: scaled; passes: zeros\n"
      "refused: 3_c: no module\n"
      "folder        tasks  scaled  flagged  refused  wrong answers caught that pass 1e-4 / 1e-2\n"
      "level1            2       1        1        0  1 / 3\n"
      "level2            0       0        0        1  0 / 0\n");
}

} // namespace
} // namespace winnow::harness
