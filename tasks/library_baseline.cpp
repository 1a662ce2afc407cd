#include "tasks/library_baseline.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/expression/toml_expression.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 31; // a product of two sizes does not overflow
constexpr std::array kComputes{LibraryCompute::F32, LibraryCompute::TF32, LibraryCompute::I32};

/// The value of `key`, which must be one of `known`.
std::string word(const TomlReader& table, const char* key, const std::vector<std::string>& known) {
  const std::string text = table.string(key);
  for (const std::string& one : known) {
    if (text == one) {
      return text;
    }
  }
  table.fail_unknown(key, key, text, known);
}

LibraryCompute parse_compute(const TomlReader& table) {
  std::vector<std::string> known;
  for (const LibraryCompute compute : kComputes) {
    known.emplace_back(to_string(compute));
  }
  const std::string text = word(table, "compute", known);
  for (const LibraryCompute compute : kComputes) {
    if (text == to_string(compute)) {
      return compute;
    }
  }
  return LibraryCompute::F32;
}

const TensorSpec& tensor(const TomlReader& table, const char* key, const Task& task,
                         bool is_written) {
  const std::string name = table.string(key);
  const TensorSpec* found = task.find_tensor(name);
  if (found == nullptr || (found->role == Role::Input) == is_written) {
    table.fail(key, fmt::format("'{}' is not an {}", name, is_written ? "output" : "input"),
               is_written ? "an output of the task" : "an input of the task");
  }
  return *found;
}

Expression float_expression_or_one(const TomlReader& table, const char* key) {
  return table.has(key) ? read_expression(table, key) : Expression::parse("1");
}

LibraryBaseline parse_one(const TomlReader& table, const Task& task) {
  table.allow_keys(
      {"library", "operation", "a", "b", "c", "m", "n", "k", "b_transposed", "compute", "alpha"});
  LibraryBaseline baseline;
  baseline.library = word(table, "library", {"cublaslt"});
  baseline.operation = word(table, "operation", {"matmul"});
  baseline.a = tensor(table, "a", task, false).name;
  baseline.b = tensor(table, "b", task, false).name;
  baseline.c = tensor(table, "c", task, true).name;
  baseline.m = read_expression(table, "m");
  baseline.n = read_expression(table, "n");
  baseline.k = read_expression(table, "k");
  baseline.b_transposed = table.boolean_or("b_transposed", false);
  baseline.compute = parse_compute(table);
  baseline.alpha = float_expression_or_one(table, "alpha");
  return baseline;
}

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1;
};

Sizes sizes_of(const Task& task, const LibraryBaseline& baseline, const Shape& shape) {
  Scope scope;
  bind_shape(task, shape, scope);
  return {baseline.m.evaluate(scope), baseline.n.evaluate(scope), baseline.k.evaluate(scope),
          baseline.alpha.evaluate_float(scope)};
}

std::vector<Buffer> buffers_of(const Task& task, const Shape& shape) {
  std::vector<Buffer> buffers;
  for (const TensorSpec& spec : task.tensors) {
    Buffer buffer;
    buffer.name = spec.name;
    buffer.kind = static_cast<Buffer::Kind>(spec.role);
    buffer.dtype = spec.dtype;
    buffer.count = element_count(spec, shape);
    buffer.generator = generator_at(spec, shape);
    buffer.is_static = spec.is_static;
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

} // namespace

std::string_view to_string(LibraryCompute compute) {
  switch (compute) {
  case LibraryCompute::F32:
    return "f32";
  case LibraryCompute::TF32:
    return "tf32";
  case LibraryCompute::I32:
    return "i32";
  }
  return "?";
}

std::vector<LibraryBaseline> parse_library_baselines(const TomlReader& root, const Task& task) {
  std::vector<LibraryBaseline> baselines;
  if (root.has("library_baselines")) {
    for (const TomlReader& table : root.tables("library_baselines")) {
      baselines.push_back(parse_one(table, task));
    }
  }
  return baselines;
}

std::string library_mistake(const Task& task, const LibraryBaseline& baseline, const Shape& shape) {
  const Sizes sizes = sizes_of(task, baseline, shape);
  const auto fits = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    return rows > 0 && columns > 0 &&
           rows * columns == element_count(*task.find_tensor(name), shape);
  };
  if (std::max({sizes.m, sizes.n, sizes.k}) > kMaxSize || !fits(baseline.a, sizes.m, sizes.k) ||
      !fits(baseline.b, sizes.k, sizes.n) || !fits(baseline.c, sizes.m, sizes.n)) {
    return fmt::format("{} {} of m = {}, n = {}, k = {} does not fit '{}', '{}' and '{}' at this "
                       "shape",
                       baseline.library, baseline.operation, sizes.m, sizes.n, sizes.k, baseline.a,
                       baseline.b, baseline.c);
  }
  return {};
}

std::vector<LibraryBaselinePlan> library_plans(const Task& task, const Shape& shape) {
  std::vector<LibraryBaselinePlan> plans;
  for (const LibraryBaseline& baseline : task.library_baselines) {
    const Sizes sizes = sizes_of(task, baseline, shape);
    LibraryStep step;
    step.library = baseline.library;
    step.operation = baseline.operation;
    step.a = baseline.a;
    step.b = baseline.b;
    step.c = baseline.c;
    step.a_type = task.find_tensor(baseline.a)->dtype;
    step.b_type = task.find_tensor(baseline.b)->dtype;
    step.c_type = task.find_tensor(baseline.c)->dtype;
    step.m = sizes.m;
    step.n = sizes.n;
    step.k = sizes.k;
    step.b_transposed = baseline.b_transposed;
    step.compute = baseline.compute;
    step.alpha = sizes.alpha;
    plans.push_back({baseline.library, {buffers_of(task, shape), {}, {std::move(step)}}});
  }
  return plans;
}

} // namespace winnow::tasks
