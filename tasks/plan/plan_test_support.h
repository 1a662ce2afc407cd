#pragma once

#include "tasks/plan/plan_resolve.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::tasks {

/// y[rows][cols] from x[rows][cols], idx[rows] and the static w[rows][cols], with a float (eps) and
/// an integer scalar (steps).
Task sample_task();
Shape sample_shape(std::int64_t rows = 4, std::int64_t cols = 1000,
                   ShapeSet set = ShapeSet::Search);

struct Outcome {
  std::optional<ResolvedPlan> plan;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> errors; ///< the same as texts
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
  std::string parameters = "p4fc:x p4f:y";  ///< of every kernel, encoded
  std::optional<KernelResources> resources; ///< of every kernel
  std::map<std::string, std::int64_t> constants;
};

Setting with_parameters(const std::string& parameters);
Setting hidden_setting(std::int64_t rows, std::int64_t cols);
/// An H100: facts that drivers of such devices report.
DeviceFacts hopper_facts();

/// A minimal file around one JSON text, which begins at column 11 of line 1.
std::string with_plan(const std::string& json);
/// The same around one launch, which begins at column 25.
std::string with_launch(const std::string& launch);
/// What parsing the text as "k.cu" says, one error a line.
std::string errors_of(const std::string& text);

/// The kernel file of a plan; its code declares the kernels k and k2. A mistake in it fails the
/// test.
std::optional<KernelFile> file_of(const std::string& json);
/// What kernel_names() says about it; errors are appended to `errors` as texts.
std::vector<std::string> names_of(const std::string& json, const Setting& setting,
                                  std::vector<std::string>& errors);
Outcome resolve(const std::string& json, const Setting& setting = {});
/// One launch of k; `members` are its other members.
Outcome resolve_launch(const std::string& members, const Setting& setting = {});
/// One launch of k with these arguments.
Outcome resolve_args(const std::string& args, const std::string& parameters);

} // namespace winnow::tasks
