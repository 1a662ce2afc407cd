#include "evaluators/selftest/trials.h"
#include "profiling/counters/counter_report.h"
#include "tasks/task/task_places.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// Bounds for operations per access. Matrix products, stencils and normalisations have 0.5 to 3.
constexpr double kMostPerAccess = 24;
constexpr double kLeastPerAccess = 1.0 / 24;

/// The smallest search shape.
tasks::Shape counted_shape(const TaskOnDevice& on_device) {
  const std::vector<tasks::Shape> shapes =
      on_device.task.shapes_of(tasks::ShapeSet::Search, on_device.host->device.kind);
  return *std::min_element(shapes.begin(), shapes.end(), [&](const auto& left, const auto& right) {
    return input_elements(on_device.task, left) < input_elements(on_device.task, right);
  });
}

/// Mean size of an input element, over all inputs together.
double mean_input_bytes(const tasks::Task& task, const tasks::Shape& shape) {
  double bytes = 0, elements = 0;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    if (tensor.role != tasks::Role::Output) {
      const auto count = static_cast<double>(tasks::element_count(tensor, shape));
      bytes += count * static_cast<double>(tasks::size_bytes(tensor.dtype));
      elements += count;
    }
  }
  return elements > 0 ? bytes / elements : sizeof(double);
}

/// Approximate number of element loads and stores. The reference reads inputs in their own type and
/// stores doubles.
double accesses(const profiling::CounterReport& report, double input_bytes) {
  const auto counter = [&](const char* key) {
    const auto found = report.counters.find(key);
    return found == report.counters.end() ? 0 : found->second.value.value_or(0);
  };
  return counter("global_bytes_read") / input_bytes +
         (counter("global_bytes_written") + counter("shared_bytes_read") +
          counter("shared_bytes_written")) /
             sizeof(double) +
         counter("atomics");
}

std::optional<profiling::CounterReport> count_reference(TaskOnDevice& on_device,
                                                        ReferenceRun& runner,
                                                        const tasks::Shape& shape,
                                                        std::uint64_t seed) {
  std::vector<Diagnostic> errors;
  const BuiltKernel counted =
      on_device.build(on_device.reference_file, on_device.reference_task,
                      default_choice(on_device.reference_file), {shape}, BuildMode::Check, errors);
  if (!errors.empty() || counted.compiled.verdict != tasks::Verdict::Correct) {
    return std::nullopt;
  }
  RunCase run_case;
  run_case.plan = on_device.own_plan(counted, shape);
  run_case.seed = seed;
  run_case.salt = poison_salt(seed);
  run_case.counters = profiling::CounterSet::Fast;
  const StageOutcome outcome =
      runner.run(counted, {run_case}, 1); // an instrumented module runs on one core
  const auto& cases = outcome.report.cases;
  return outcome.fault || cases.empty() ? std::nullopt : cases.front().counters;
}

} // namespace

std::string doubt_about_operations(TaskOnDevice& on_device, ReferenceRun& runner,
                                   const SelftestOptions& options) {
  const tasks::Shape shape = counted_shape(on_device);
  if (!on_device.host->compiler->has_check_mode() ||
      input_elements(on_device.task, shape) > options.max_input_elements) {
    return {};
  }
  const auto report = count_reference(on_device, runner, shape, options.seed);
  const double counted = report ? accesses(*report, mean_input_bytes(on_device.task, shape)) : 0;
  if (counted <= 0) {
    return {};
  }
  tasks::Scope scope;
  tasks::bind_shape(on_device.task, shape, scope);
  const double declared = on_device.task.operations.evaluate_float(scope);
  const double ratio = declared / counted;
  if (ratio >= kLeastPerAccess && ratio <= kMostPerAccess) {
    return {};
  }
  return fmt::format(
      "`operations` is {:.4g} at {} ({}): {:.3g} for each of the {:.4g} elements that "
      "reference.cu loads and stores; most tasks have 0.5 to 3 ({})",
      declared, shape.id, to_string(shape), ratio, counted,
      tasks::place_of_key(on_device.task, "operations"));
}

} // namespace winnow::evaluators
