#include "base/text.h"
#include "tasks/kernel_file.h"
#include "tasks/plan_resolve.h"

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
                  {"y", Role::Output, DType::F32, matrix, {}, ""}};
  task.scalars = {{"eps", DType::F32, 0.5, 0, 1, ""}, {"steps", DType::I32, 3, 0, 9, ""}};
  return task;
}

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

void check_steps(const ResolvedPlan& plan, const DeviceFacts& facts) {
  for (const Step& step : plan.steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      for (std::size_t i = 0; i < 3; ++i) {
        require(launch->grid[i] >= 1 && launch->block[i] >= 1);
      }
      require(launch->block[0] * launch->block[1] * launch->block[2] <=
              facts.max_threads_per_block);
    }
  }
  const nlohmann::json json = plan;
  require(nlohmann::json(json.get<ResolvedPlan>()) == json);
}

// Every parameter list that a plan can be matched with: pointers first, then numbers.
CompiledFacts compiled(const std::vector<std::string>& kernels) {
  const auto parameters = decode_parameters("p4fc:x p4f:y i4:rows i4:cols f4:eps");
  CompiledFacts result;
  for (const std::string& kernel : kernels) {
    result.signatures.push_back({kernel, *parameters, std::nullopt});
  }
  return result;
}

void resolve(const KernelFile& file, const ParameterChoice& choice) {
  static const Task task = sample_task();
  DeviceFacts facts;
  facts.max_steps = 1000;
  for (const ShapeSet set : {ShapeSet::Search, ShapeSet::Promotion}) {
    const Shape shape{"s/0", set, {{"rows", 3}, {"cols", 1021}}, {{"eps", 0.5}, {"steps", 3}}, {}};
    std::vector<Diagnostic> errors;
    std::vector<Diagnostic> warnings;
    const auto kernels = kernel_names(file, task, {shape}, choice, facts, errors);
    const bool sound = errors.empty();
    const auto plan =
        resolve_plan(file, task, shape, choice, facts, compiled(kernels), errors, warnings);
    require(plan.has_value() ? sound && errors.empty() : !errors.empty());
    if (plan) {
      check_steps(*plan, facts);
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const KernelFileResult result = parse_kernel_file(text, "fuzz.cu");
  require(result.kernel_file.has_value() == result.errors.empty());
  for (const Diagnostic& error : result.errors) {
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
  } catch (const ExpressionError&) { // a `where` or fast_math without a value
  }
  return 0;
}
