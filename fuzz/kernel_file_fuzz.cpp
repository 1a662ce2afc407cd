#include "base/text.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

using namespace winnow::tasks;

namespace {

Task sample_task() {
  Task task;
  task.axes = {{"rows", ""}, {"cols", ""}};
  const std::vector<Expression> matrix{Expression::parse("rows"), Expression::parse("cols")};
  task.tensors = {{"x", Role::Input, DType::F32, matrix, {}, ""},
                  {"y", Role::Output, DType::F32, matrix, {}, ""},
                  {"w", Role::Input, DType::F32, matrix, {}, "", true}};
  task.scalars = {{"eps", DType::F32, 0.5, 0, 1, ""}, {"steps", DType::I32, 3, 0, 9, ""}};
  return task;
}

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

DeviceFacts device_facts() {
  DeviceFacts facts;
  facts.max_steps = 1000;
  facts.sm_count = 132;
  facts.architecture = "sm_90a";
  facts.max_cluster_blocks = 8;
  facts.tensor_maps = true;
  facts.max_threads_per_sm = 2048;
  facts.max_blocks_per_sm = 32;
  facts.registers_per_sm = 65536;
  facts.registers_per_block = 65536;
  facts.shared_bytes_per_sm = 233472;
  facts.reserved_shared_bytes = 1024;
  return facts;
}

void check_map(const ResolvedTensorMap& map, const ResolvedPlan& plan) {
  const auto buffer = std::find_if(plan.buffers.begin(), plan.buffers.end(),
                                   [&](const Buffer& b) { return b.name == map.buffer; });
  require(buffer != plan.buffers.end());
  const auto element = static_cast<std::int64_t>(size_bytes(map.dtype));
  std::int64_t end = map.offset_bytes + map.extents.at(0) * element;
  for (std::size_t i = 1; i < map.extents.size(); ++i) {
    require(map.strides_bytes.at(i - 1) % 16 == 0);
    end += (map.extents[i] - 1) * map.strides_bytes[i - 1];
  }
  require(map.box.size() == map.extents.size());
  require(end <= buffer->count * static_cast<std::int64_t>(size_bytes(buffer->dtype)));
}

void check_launch(const LaunchStep& launch, const ResolvedPlan& plan, const DeviceFacts& facts) {
  for (std::size_t i = 0; i < 3; ++i) {
    require(launch.grid[i] >= 1 && launch.block[i] >= 1 && launch.cluster[i] >= 1);
    require(launch.grid[i] % launch.cluster[i] == 0);
  }
  require(launch.block[0] * launch.block[1] * launch.block[2] <= facts.max_threads_per_block);
  require(launch.cluster[0] * launch.cluster[1] * launch.cluster[2] <= facts.max_cluster_blocks);
  for (const ResolvedArgument& argument : launch.arguments) {
    require((argument.tensor_map != nullptr) ==
            (argument.kind == ResolvedArgument::Kind::TensorMap));
    if (argument.tensor_map != nullptr) {
      check_map(*argument.tensor_map, plan);
    }
  }
}

void check_steps(const ResolvedPlan& plan, const DeviceFacts& facts) {
  for (const std::vector<Step>* steps : {&plan.prepare, &plan.steps}) {
    for (const Step& step : *steps) {
      if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        check_launch(*launch, plan, facts);
      }
    }
  }
  const nlohmann::json json = plan;
  require(nlohmann::json(json.get<ResolvedPlan>()) == json);
}

// Makes a parameter list that any file can have: pointers, tensor maps if the plan has some, then
// numbers.
CompiledFacts compiled(const KernelFile& file, const std::vector<std::string>& kernels,
                       const std::vector<std::string>& constants) {
  const bool maps = !file.plan.tensor_maps.empty();
  const auto parameters = decode_parameters(maps ? "o128:map p4fc:x p4f:y i4:rows i4:cols f4:eps"
                                                 : "p4fc:x p4f:y i4:rows i4:cols f4:eps");
  KernelResources resources;
  resources.registers = 40;
  resources.static_shared_bytes = 1024;
  CompiledFacts result;
  for (const std::string& kernel : kernels) {
    result.signatures.push_back({kernel, *parameters, resources});
  }
  for (const std::string& constant : constants) {
    result.constants[constant] = static_cast<std::int64_t>(constant.size());
  }
  return result;
}

void resolve(const KernelFile& file, const ParameterChoice& choice) {
  static const Task task = sample_task();
  const DeviceFacts facts = device_facts();
  for (const ShapeSet set : {ShapeSet::Search, ShapeSet::Promotion}) {
    const Shape shape{"s/0", set, {{"rows", 4}, {"cols", 1024}}, {{"eps", 0.5}, {"steps", 3}}, {}};
    std::vector<winnow::Diagnostic> errors;
    const auto constants = device_constants(file, choice, errors);
    const auto kernels = kernel_names(file, task, {shape}, choice, facts, errors);
    if (!errors.empty()) {
      return;
    }
    std::vector<winnow::Diagnostic> warnings;
    const auto plan = resolve_plan(file, task, shape, choice, facts,
                                   compiled(file, kernels, constants), errors, warnings);
    require(plan.has_value() == errors.empty());
    if (plan) {
      check_steps(*plan, facts);
      for (const Step& step : plan->steps) {
        const auto* launch = std::get_if<LaunchStep>(&step);
        require(launch == nullptr ||
                std::find(kernels.begin(), kernels.end(), launch->kernel) != kernels.end());
      }
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const KernelFileResult result = parse_kernel_file(text, "fuzz.cu");
  require(result.kernel_file.has_value() == result.errors.empty());
  for (const winnow::Diagnostic& error : result.errors) {
    require(!winnow::find_invalid_utf8(to_string(error)));
  }
  if (!result.kernel_file) {
    return 0;
  }
  const KernelFile& file = *result.kernel_file;
  require(std::count(file.source.begin(), file.source.end(), '\n') ==
          std::count(text.begin(), text.end(), '\n'));
  try {
    for (const ParameterChoice& choice : parameter_choices(file.plan, 2)) {
      uses_fast_math(file.plan, choice);
      resolve(file, choice);
    }
  } catch (const ExpressionError&) { // a `where` or fast_math expression without a value
  }
  return 0;
}
