#include "tasks/library/library_baseline.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/expression/toml_expression.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 31; // the libraries' indices have 32 bits
constexpr std::array kComputes{LibraryCompute::F32, LibraryCompute::TF32, LibraryCompute::I32};

struct Sizes {
  std::int64_t m = 0, n = 0, k = 0, batch = 0, nonzeros = 0;
  auto all() const { return std::array{m, n, k, batch, nonzeros}; }
};

struct Operand {
  std::string key;
  std::optional<DType> dtype;                 ///< nullopt: the library decides at run time
  std::vector<std::int64_t Sizes::*> factors; ///< their product is the number of elements...
  std::int64_t per_item = 1;                  ///< ... times this
  std::int64_t more = 0;                      ///< ... and this many more
};

/// An operation of a library and the keys that its table may have.
struct Operation {
  std::string library, name;
  std::vector<Operand> operands; ///< the last one is the result
  std::vector<std::string> sizes;
  std::vector<std::string> options;
};

const std::vector<Operation>& operations() {
  constexpr auto kM = &Sizes::m, kN = &Sizes::n, kK = &Sizes::k, kBatch = &Sizes::batch,
                 kNonzeros = &Sizes::nonzeros;
  const Operand rows{"row_pointers", DType::I32, {kM}, 1, 1};
  const Operand columns{"columns", DType::I32, {kNonzeros}};
  const Operand values{"values", DType::F32, {kNonzeros}};
  static const std::vector<Operation> all{
      {"cublaslt",
       "matmul",
       {{"a", {}, {kBatch, kM, kK}}, {"b", {}, {kBatch, kK, kN}}, {"c", {}, {kBatch, kM, kN}}},
       {"m", "n", "k"},
       {"batch", "b_transposed", "compute", "alpha"}},
      {"cufft",
       "fft",
       {{"a", DType::F32, {kBatch, kN}, 2}, {"c", DType::F32, {kBatch, kN}, 2}},
       {"n"},
       {"batch", "inverse"}},
      {"cusparse",
       "spmv",
       {rows, columns, values, {"b", DType::F32, {kK}}, {"c", DType::F32, {kM}}},
       {"m", "k", "nonzeros"},
       {"alpha", "beta", "added"}},
      {"cusparse",
       "spmm",
       {rows, columns, values, {"b", DType::F32, {kK, kN}}, {"c", DType::F32, {kM, kN}}},
       {"m", "n", "k", "nonzeros"},
       {"alpha"}},
  };
  return all;
}

/// The value of `key`, which must be one of `known`.
std::string word(const TomlReader& table, const char* key, const std::vector<std::string>& known) {
  const std::string text = table.string(key);
  if (!contains(known, text)) {
    table.fail_unknown(key, key, text, known);
  }
  return text;
}

const Operation& find_operation(const std::string& library, const std::string& name) {
  return *std::find_if(operations().begin(), operations().end(), [&](const Operation& one) {
    return one.library == library && one.name == name;
  });
}

const Operation& parse_operation(const TomlReader& table) {
  std::vector<std::string> libraries, names;
  for (const Operation& operation : operations()) {
    if (libraries.empty() || libraries.back() != operation.library) {
      libraries.push_back(operation.library);
    }
  }
  const std::string library = word(table, "library", libraries);
  for (const Operation& operation : operations()) {
    if (operation.library == library) {
      names.push_back(operation.name);
    }
  }
  return find_operation(library, word(table, "operation", names));
}

void allow_keys(const TomlReader& table, const Operation& operation) {
  std::vector<std::string> keys{"library", "operation"};
  for (const Operand& operand : operation.operands) {
    keys.push_back(operand.key);
  }
  keys.insert(keys.end(), operation.sizes.begin(), operation.sizes.end());
  keys.insert(keys.end(), operation.options.begin(), operation.options.end());
  table.allow_keys(keys);
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

std::string parse_tensor(const TomlReader& table, const std::string& key, const Task& task,
                         bool is_written, std::optional<DType> dtype) {
  const std::string name = table.string(key);
  const TensorSpec* found = task.find_tensor(name);
  if (found == nullptr || (found->role == Role::Input) == is_written) {
    table.fail(key, fmt::format("'{}' is not an {}", name, is_written ? "output" : "input"),
               is_written ? "an output of the task" : "an input of the task");
  }
  if (dtype && found->dtype != *dtype) {
    table.fail(key, fmt::format("'{}' has dtype {}", name, to_string(found->dtype)),
               std::string(to_string(*dtype)));
  }
  return name;
}

Expression expression_or(const TomlReader& table, const char* key, std::int64_t fallback) {
  return table.has(key) ? read_expression(table, key) : Expression::constant(fallback);
}

LibraryBaseline parse_one(const TomlReader& table, const Task& task) {
  const Operation& operation = parse_operation(table);
  allow_keys(table, operation);
  LibraryBaseline baseline;
  baseline.library = operation.library;
  baseline.operation = operation.name;
  for (const Operand& operand : operation.operands) {
    const bool is_result = &operand == &operation.operands.back();
    baseline.operands.push_back(parse_tensor(table, operand.key, task, is_result, operand.dtype));
  }
  if (table.has("added")) {
    baseline.added = parse_tensor(table, "added", task, false, operation.operands.back().dtype);
  }
  for (const std::string& size : operation.sizes) {
    read_expression(table, size); // required
  }
  baseline.m = expression_or(table, "m", 1);
  baseline.n = expression_or(table, "n", 1);
  baseline.k = expression_or(table, "k", 1);
  baseline.batch = expression_or(table, "batch", 1);
  baseline.nonzeros = expression_or(table, "nonzeros", 1);
  baseline.b_transposed = table.boolean_or("b_transposed", false);
  baseline.inverse = expression_or(table, "inverse", 0);
  baseline.compute = operation.name == "matmul" ? parse_compute(table) : LibraryCompute::F32;
  baseline.alpha = expression_or(table, "alpha", 1);
  baseline.beta = expression_or(table, "beta", baseline.added.empty() ? 0 : 1);
  return baseline;
}

Sizes sizes_of(const LibraryBaseline& baseline, const Scope& scope) {
  return {baseline.m.evaluate(scope), baseline.n.evaluate(scope), baseline.k.evaluate(scope),
          baseline.batch.evaluate(scope), baseline.nonzeros.evaluate(scope)};
}

/// The number of elements of an operand; nullopt: more than 64 bits can hold.
std::optional<std::int64_t> count_of(const Operand& operand, const Sizes& sizes) {
  std::int64_t count = operand.per_item;
  for (const auto factor : operand.factors) {
    if (__builtin_mul_overflow(count, sizes.*factor, &count)) {
      return std::nullopt;
    }
  }
  return __builtin_add_overflow(count, operand.more, &count) ? std::nullopt : std::optional(count);
}

} // namespace

std::string_view to_string(LibraryCompute compute) {
  return name_by_number(compute, {"?", "f32", "tf32", "i32"});
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
  Scope scope;
  bind_shape(task, shape, scope);
  const Sizes sizes = sizes_of(baseline, scope);
  const auto all = sizes.all();
  const Operation& operation = find_operation(baseline.library, baseline.operation);
  bool fits = std::all_of(all.begin(), all.end(),
                          [](std::int64_t size) { return size > 0 && size <= kMaxSize; });
  std::string counts;
  for (std::size_t i = 0; i < baseline.operands.size(); ++i) {
    const std::int64_t count = element_count(*task.find_tensor(baseline.operands[i]), shape);
    fits = fits && count_of(operation.operands[i], sizes) == count;
    counts += fmt::format("{}'{}' of {}", i == 0 ? "" : ", ", baseline.operands[i], count);
  }
  if (!baseline.added.empty()) {
    fits = fits && element_count(*task.find_tensor(baseline.added), shape) ==
                       element_count(*task.find_tensor(baseline.operands.back()), shape);
  }
  if (fits) {
    return {};
  }
  return fmt::format("{} {} of m = {}, n = {}, k = {}, batch = {}, nonzeros = {} does not fit the "
                     "elements of its tensors at this shape: {}",
                     baseline.library, baseline.operation, sizes.m, sizes.n, sizes.k, sizes.batch,
                     sizes.nonzeros, counts);
}

namespace {

LibraryStep step_of(const Task& task, const LibraryBaseline& baseline, const Shape& shape) {
  Scope scope;
  bind_shape(task, shape, scope);
  const Sizes sizes = sizes_of(baseline, scope);
  LibraryStep step;
  step.library = baseline.library;
  step.operation = baseline.operation;
  for (const std::string& name : baseline.operands) {
    const TensorSpec& tensor = *task.find_tensor(name);
    step.operands.push_back({name, tensor.dtype, element_count(tensor, shape)});
  }
  step.m = sizes.m;
  step.n = sizes.n;
  step.k = sizes.k;
  step.batch = sizes.batch;
  step.nonzeros = sizes.nonzeros;
  step.b_transposed = baseline.b_transposed;
  step.inverse = baseline.inverse.evaluate(scope) != 0;
  step.compute = baseline.compute;
  step.alpha = baseline.alpha.evaluate_float(scope);
  step.beta = baseline.beta.evaluate_float(scope);
  return step;
}

/// The copy that puts `added` where the library adds its product.
CopyStep copy_of(const LibraryBaseline& baseline, const LibraryOperand& result) {
  CopyStep copy;
  copy.from = baseline.added;
  copy.to = result.buffer;
  copy.row_bytes = result.count * static_cast<std::int64_t>(size_bytes(result.dtype));
  copy.from_stride_bytes = copy.to_stride_bytes = copy.row_bytes;
  return copy;
}

} // namespace

std::vector<LibraryBaselinePlan> library_plans(const Task& task, const Shape& shape) {
  std::vector<LibraryBaselinePlan> plans;
  for (const LibraryBaseline& baseline : task.library_baselines) {
    LibraryStep step = step_of(task, baseline, shape);
    ResolvedPlan plan = tensors_only(task, shape);
    if (!baseline.added.empty()) {
      plan.steps.emplace_back(copy_of(baseline, step.operands.back()));
    }
    plan.steps.emplace_back(std::move(step));
    plans.push_back({baseline.library, std::move(plan)});
  }
  return plans;
}

} // namespace winnow::tasks
