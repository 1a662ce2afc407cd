// Makes tasks of PyTorch modules.
#include "base/error.h"
#include "base/files.h"
#include "harness/import/import_modules.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task.h"
#include "tests/support/json_page.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(ModuleTask, AxesThatNeverVaryAreNumbersWhereTheirNamesWouldBeTooLong) {
  json description = linear();
  for (int i = 0; i < 200; ++i) {
    const std::string axis = "channels_of_block_" + std::to_string(i);
    description["axes"].push_back({{"name", axis}, {"value", 2}, {"fixed", true}});
    for (const auto& [set, shapes] : description["shapes"].items()) {
      for (json& shape : shapes) {
        shape[axis] = set == "tiny" ? 1 : 2;
      }
    }
    json weight = description["tensors"][1];
    weight["name"] = weight["state"] = "w" + std::to_string(i);
    weight["shape"] = {axis, "width"};
    description["tensors"].push_back(weight);
  }
  const tasks::Task task = parsed(description);
  EXPECT_EQ(at(task, task.bytes, 1), 4 * (128 * 64 + (16 + 200 * 2) * 64 + 128 * 16));
}

TEST(ModuleTask, TakesTheModulesOwnGrowthAndTheNamesOfItsIntegers) {
  json description = linear();
  description["operations_text"] = "2 * batch * width * width";
  description["knobs"] = {{"hidden_size", "width"}};
  const tasks::Task task = parsed(description);
  EXPECT_EQ(at(task, task.operations, 1), 2 * 128 * 64 * 64);
  EXPECT_EQ(task.torch->knobs.at("hidden_size"), "width");
  description["knobs"] = {{"hidden_size", "depth"}};
  EXPECT_THROW(parsed(description), UsageError);
}

TEST(ModuleTask, HundredsOfTensorsHaveAShortSize) {
  json description = linear();
  for (int i = 0; i < 500; ++i) {
    json weight = description["tensors"][1];
    weight["name"] = weight["state"] = "w" + std::to_string(i);
    description["tensors"].push_back(weight);
  }
  const tasks::Task task = parsed(description);
  EXPECT_EQ(at(task, task.bytes, 1), 4 * (128 * 64 + 501 * 16 * 64 + 128 * 16));
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

TEST(ModuleTask, IntegersHaveNoErrorScale) {
  json description = linear();
  description["tensors"][2]["dtype"] = "i64";
  description["tolerance"] = {{"precision", "int"}, {"accumulate", "int"}, {"multiple", 32.0}};
  EXPECT_EQ(parsed(description).tolerance.precision, tasks::Precision::Int);
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
  void add(const std::string& file, const std::string& text = "module") const {
    std::filesystem::create_directories((root() / file).parent_path());
    write_file_atomic(root() / file, text);
  }
  const std::filesystem::path& root() const { return folder_.path(); }
  std::vector<std::string> names(int level) const {
    std::vector<std::string> found;
    for (const Module& module : benchmark_modules(root(), level, "to")) {
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

TEST_F(Checkout, MayHaveCategories) {
  const std::string module = "class Model(nn.Module):\n    pass\n\ndef get_inputs():\n    pass\n";
  add("reference/pooling/max.py", module);
  add("reference/attention/causal.py", module);
  add("reference/attention/cases.py",
      "class Model:\n    pass\n\ndef get_input_groups():\n    pass\n");
  add("utils/loader.py", module);
  EXPECT_THAT(names(0), ElementsAre("to/attention/causal", "to/pooling/max"));
  EXPECT_EQ(benchmark_modules(root(), 0, "to")[1].origin.origin, "MultiKernelBench pooling/max.py");
  EXPECT_THROW(names(1), UsageError);
}

TEST_F(Checkout, MayBeTheFileOfOneProblem) {
  const std::string module = "class Model(nn.Module):\n    pass\n\ndef get_inputs():\n    pass\n";
  const auto only = [&](const std::string& file, int level = 0) {
    add(file, module);
    const std::vector<Module> found = benchmark_modules(root() / file, level, "to");
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].file, root() / file);
    EXPECT_EQ(found[0].origin.mode, "train");
    return found[0].folder.string() + ", " + found[0].origin.origin;
  };
  EXPECT_EQ(only("KernelBench/level1/19_ReLU.py"),
            "to/level1/19_ReLU, KernelBench level1/19_ReLU.py");
  EXPECT_EQ(only("level3/7_x.py", 3), "to/level3/7_x, KernelBench level3/7_x.py");
  EXPECT_EQ(only("reference/pooling/max.py"), "to/pooling/max, MultiKernelBench pooling/max.py");
  EXPECT_EQ(only("mine/relu.py"), "to/relu, KernelBench relu.py");
  EXPECT_THROW(only("level3/7_x.py", 2), UsageError);
  EXPECT_THROW(only("mine/relu.py", 1), UsageError);
  add("level1/1_no.py", "print()");
  EXPECT_THROW(benchmark_modules(root() / "level1/1_no.py", 0, "to"), UsageError);
}

/// Imports modules of texts that a description is made up for.
class Import : public Checkout {
protected:
  Module module(const std::string& name, const std::string& text) const {
    add(name + ".py", text);
    return {root() / (name + ".py"), root() / "to" / name, {"mine", "train"}};
  }
  Describe describe() {
    return [this](const json& request) {
      ++asked_;
      if (request.at("source") == "raise") {
        throw Error("no answer: exited with 3");
      }
      return linear();
    };
  }
  Imported imported(const Module& module, std::uint64_t memory_bytes = 1000) {
    return import_module(describe(), module, {memory_bytes, "cpu", 1});
  }
  /// Names in the folder of the tasks.
  std::vector<std::string> written() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root() / "to")) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  std::atomic<int> asked_{0};
};

TEST_F(Import, KeepsAFolderOfTheSameFileAndOptions) {
  const Module one = module("one", "text");
  const Imported first = imported(one);
  EXPECT_EQ(first.refused, "");
  EXPECT_FALSE(first.was_there);
  EXPECT_EQ(read_file(one.folder / "reference.py", 100), "text");
  const Imported second = imported(one);
  EXPECT_TRUE(second.was_there);
  EXPECT_EQ(second.flags, first.flags);
  EXPECT_EQ(second.wrong.caught_at_1e2, 1);
  EXPECT_EQ(second.wrong.passing, 1);
  EXPECT_EQ(asked_, 1);
  write_file_atomic(one.folder / "mine.cu", "kernel");
  EXPECT_FALSE(imported(one, 2000).was_there);
  add("one.py", "other text");
  EXPECT_FALSE(imported(one, 2000).was_there);
  EXPECT_EQ(read_file(one.folder / "reference.py", 100), "other text");
  EXPECT_TRUE(is_file(one.folder / "mine.cu"));
  EXPECT_EQ(asked_, 3);
  EXPECT_THAT(written(), ElementsAre("one"));
}

TEST_F(Import, TakesAwayWhatAKilledImportLeft) {
  const Module one = module("one", "text");
  std::filesystem::create_directories(root() / "to" / ".one.partial" / "folder");
  EXPECT_EQ(imported(one).refused, "");
  EXPECT_THAT(written(), ElementsAre("one"));
}

ImportOne importer_of(const std::vector<Module>& modules) {
  return [&](const Describe& child, std::size_t i) { return import_module(child, modules[i], {}); };
}

TEST_F(Import, AChildThatDiesRefusesItsModuleOnly) {
  const std::vector<Module> modules = {module("a", "text"), module("b", "raise"),
                                       module("c", "text")};
  std::size_t told = 0;
  const std::vector<Imported> all = import_all(
      {describe(), describe()}, modules.size(), importer_of(modules),
      [&told](const Imported&) { ++told; }, [] { return false; });
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].folder, modules[0].folder);
  EXPECT_EQ(all[0].refused, "");
  EXPECT_EQ(all[1].refused, "no answer: exited with 3");
  EXPECT_EQ(all[2].refused, "");
  EXPECT_EQ(told, 3U);
  EXPECT_FALSE(std::filesystem::exists(modules[1].folder));
}

TEST_F(Import, ACancelledModuleIsNotRefused) {
  const std::vector<Module> modules = {module("a", "text"), module("b", "raise"),
                                       module("c", "text")};
  const std::vector<Imported> all = import_all(
      {describe()}, modules.size(), importer_of(modules), [](const Imported&) {},
      [this] { return asked_ >= 2; });
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].folder, modules[2].folder);
}

TEST(KnownModules, AreFoundByTheirClass) {
  EXPECT_EQ(model_class("import torch\nclass Model(nn.Module):\n  a = 1\n\n  b = 2\n\nn = 3\n"),
            "class Model(nn.Module):\n  a = 1\n\n  b = 2");
  EXPECT_EQ(model_class("class Model(nn.Module):\n  a = 1"), "class Model(nn.Module):\n  a = 1");
  EXPECT_EQ(model_class("n = 3\n"), "");
  // Level 2, problem 66 of KernelBench: its class, with other sizes behind it.
  const std::string dropout = R"(class Model(nn.Module):
    """
    A model that performs matrix multiplication, applies dropout, and then applies softmax.
    """
    def __init__(self, in_features, out_features, dropout_p):
        super(Model, self).__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x):
        """
        Args:
            x (torch.Tensor): Input tensor of shape (batch_size, in_features).

        Returns:
            torch.Tensor: Output tensor of shape (batch_size, out_features).
        """
        x = self.matmul(x)
        x = self.dropout(x)
        x = torch.softmax(x, dim=1)  # Softmax over features
        return x
)";
  EXPECT_EQ(known_module("import torch\n" + dropout + "\nbatch_size = 3\n").mode, "eval");
  EXPECT_EQ(known_module(dropout + "    # more\n").mode, std::nullopt);
}

ImportReport report_of_three() {
  const Imported plain{"to/level1/1_a", "", false, {"scaled"}, {3, 0, 1, 2}, 1};
  const Imported flagged{"to/level1/2_b", "", false, {"scaled", "passes: zeros"}, {4, 1, 0, 1}, 1};
  const Imported refused{"to/level2/3_c", "no module", false, {}, {}, 1};
  return {"cpu", "1.13", 2, 3.0, {plain, flagged, refused}};
}

TEST(ImportReport, CountsByFolder) {
  EXPECT_EQ(import_text(report_of_three()),
            "flagged: level1/2_b: passes: zeros\n"
            "refused: level2/3_c: no module\n"
            "                                             wrong answers        caught here, and\n"
            "folder         tasks  scaled  flagged  refused  tried  pass here  pass 1e-4 / 1e-2\n"
            "level1             2       2        1        0      7          1  1 / 3\n"
            "level2             0       0        0        1      0          0  0 / 0\n"
            "3 s on cpu with PyTorch 1.13, 2 at a time\n");
}

TEST(ImportReport, IsADocument) {
  const json document = import_json(report_of_three());
  EXPECT_EQ(document["schema"], "winnow.import");
  EXPECT_EQ(document["groups"][0]["wrong_caught_at_1e_2"], 3);
  EXPECT_EQ(document["problems"][2]["refused"], "no module");
  EXPECT_THAT(::winnow::test::JsonPage(WINNOW_SOURCE_DIR).missing(document), IsEmpty());
}

} // namespace
} // namespace winnow::harness
