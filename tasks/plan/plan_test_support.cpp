#include "tasks/plan/plan_test_support.h"

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

CompiledFacts compiled(const KernelFile& file, const Setting& setting) {
  std::vector<Diagnostic> ignored;
  CompiledFacts result;
  std::vector<std::string> names =
      kernel_names(file, sample_task(), {setting.shape}, setting.choice, setting.facts, ignored);
  if (names.empty()) { // the plan is wrong: resolve_plan() reports the mistake
    names = {"k", "k2"};
  }
  for (const std::string& name : names) {
    result.signatures.push_back(
        {name, decode_parameters(setting.parameters).value(), setting.resources});
  }
  result.constants = setting.constants;
  return result;
}

} // namespace

Task sample_task() {
  Task task;
  task.axes = {{"rows", ""}, {"cols", ""}};
  const std::vector<Expression> matrix{Expression::parse("rows"), Expression::parse("cols")};
  task.tensors = {{"x", Role::Input, DType::F32, matrix, {}, ""},
                  {"idx", Role::Input, DType::I32, {Expression::parse("rows")}, {}, ""},
                  {"y", Role::Output, DType::F32, matrix, {}, ""},
                  {"w", Role::Input, DType::F32, matrix, {}, "", true}};
  task.scalars = {{"eps", DType::F32, 0.5, 0.1, 0.9, ""}, {"steps", DType::I32, 3, 1, 9, ""}};
  return task;
}

Shape sample_shape(std::int64_t rows, std::int64_t cols, ShapeSet set) {
  return {"search/0", set, {{"rows", rows}, {"cols", cols}}, {{"eps", 0.5}, {"steps", 3}}, {}};
}

Setting with_parameters(const std::string& parameters) {
  Setting setting;
  setting.parameters = parameters;
  return setting;
}

Setting hidden_setting(std::int64_t rows, std::int64_t cols) {
  Setting setting;
  setting.shape = sample_shape(rows, cols, ShapeSet::Promotion);
  return setting;
}

DeviceFacts hopper_facts() {
  DeviceFacts facts;
  facts.sm_count = 132;
  facts.max_shared_bytes = 232448;
  facts.architecture = "sm_90a";
  facts.max_cluster_blocks = 8;
  facts.tensor_maps = true;
  facts.max_static_shared_bytes = 49152;
  facts.max_threads_per_sm = 2048;
  facts.max_blocks_per_sm = 32;
  facts.registers_per_sm = 65536;
  facts.registers_per_block = 65536;
  facts.shared_bytes_per_sm = 233472;
  facts.reserved_shared_bytes = 1024;
  return facts;
}

std::string with_plan(const std::string& json) {
  return "/*@winnow " + json + " @*/\n__global__ void k(float* y) {}\n";
}

std::string errors_of(const std::string& text) {
  const KernelFileResult result = parse_kernel_file(text, "k.cu");
  EXPECT_EQ(result.errors.empty(), result.kernel_file.has_value());
  std::string all;
  for (const Diagnostic& error : result.errors) {
    all += to_string(error) + "\n";
  }
  return all;
}

std::string with_launch(const std::string& launch) {
  return with_plan("{\"launches\": [" + launch + "]}");
}

std::optional<KernelFile> file_of(const std::string& json) {
  KernelFileResult file = parse_kernel_file(
      "/*@winnow " + json + " @*/\n__global__ void k();\n__global__ void k2();", "k.cu");
  for (const Diagnostic& error : file.errors) {
    ADD_FAILURE() << to_string(error);
  }
  return std::move(file.kernel_file);
}

std::vector<std::string> names_of(const std::string& json, const Setting& setting,
                                  std::vector<std::string>& errors) {
  const auto file = file_of(json);
  if (!file) {
    return {};
  }
  std::vector<Diagnostic> diagnostics;
  auto names = kernel_names(*file, sample_task(), {setting.shape}, setting.choice, setting.facts,
                            diagnostics);
  for (const Diagnostic& diagnostic : diagnostics) {
    errors.push_back(to_string(diagnostic));
  }
  return names;
}

Outcome resolve(const std::string& json, const Setting& setting) {
  Outcome outcome;
  const auto file = file_of(json);
  if (!file) {
    return outcome;
  }
  std::vector<Diagnostic> warnings;
  outcome.plan = resolve_plan(*file, sample_task(), setting.shape, setting.choice, setting.facts,
                              compiled(*file, setting), outcome.diagnostics, warnings);
  for (const Diagnostic& error : outcome.diagnostics) {
    outcome.errors.push_back(to_string(error));
  }
  for (const Diagnostic& warning : warnings) {
    outcome.warnings.push_back(to_string(warning));
  }
  EXPECT_EQ(outcome.plan.has_value(), outcome.errors.empty());
  return outcome;
}

Outcome resolve_launch(const std::string& members, const Setting& setting) {
  return resolve(R"js({"launches": [{"kernel": "k", )js" + members + "}]}", setting);
}

Outcome resolve_args(const std::string& args, const std::string& parameters) {
  return resolve_launch(R"js("grid": 1, "block": 32, "args": [)js" + args + "]",
                        with_parameters(parameters));
}

} // namespace winnow::tasks
