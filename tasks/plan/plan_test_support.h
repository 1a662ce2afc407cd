#pragma once

#include "tasks/plan/resolve/plan_resolve.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::tasks {

/// A task with y[rows][cols] from x[rows][cols], idx[rows] and the static w[rows][cols], a float
/// scalar (eps) and an integer scalar (steps).
Task sample_task();
Shape sample_shape(std::int64_t rows = 4, std::int64_t cols = 1000,
                   ShapeSet set = ShapeSet::Search);

struct Outcome {
  std::optional<ResolvedPlan> plan;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> errors; ///< the errors as texts
  std::vector<std::string> warnings;

  std::string error() const { return errors.empty() ? "no error" : errors.front(); }
  const LaunchStep& launch(std::size_t step = 0) const {
    return std::get<LaunchStep>(plan.value().steps.at(step));
  }
};

struct Setting {
  Shape shape = sample_shape();
  ParameterChoice choice;
  DeviceFacts facts;
  std::string parameters = "p4fc:x p4f:y";  ///< encoded parameters of every kernel
  std::optional<KernelResources> resources; ///< of every kernel
  std::map<std::string, std::int64_t> constants;
};

Setting with_parameters(const std::string& parameters);
Setting hidden_setting(std::int64_t rows, std::int64_t cols);
/// The facts that the driver reports for an H100.
DeviceFacts hopper_facts();

/// A minimal file with the JSON text as its plan. The text begins at column 11 of line 1.
std::string with_plan(const std::string& json);
/// The same for one launch. The text begins at column 25.
std::string with_launch(const std::string& launch);
/// The errors from parsing the text as "k.cu", one per line.
std::string errors_of(const std::string& text);

/// The kernel file with this plan. Its code declares the kernels k and k2. A mistake in the plan
/// fails the test.
std::optional<KernelFile> file_of(const std::string& json);
/// The result of kernel_names() for this plan. Appends errors as texts to `errors`.
std::vector<std::string> names_of(const std::string& json, const Setting& setting,
                                  std::vector<std::string>& errors);
Outcome resolve(const std::string& json, const Setting& setting = {});
/// Resolves a plan with one launch of k. `members` are the other members of the launch.
Outcome resolve_launch(const std::string& members, const Setting& setting = {});
/// Resolves a plan with one launch of k with these arguments.
Outcome resolve_args(const std::string& args, const std::string& parameters);

} // namespace winnow::tasks
