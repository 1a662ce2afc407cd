#include "tasks/task/csr_pattern.h"

#include "tasks/expression/toml_expression.h"
#include "tasks/inputs/input_generator.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using GeneratorKind = GeneratorSpec::Kind;

constexpr std::int64_t kMaxExtent = std::int64_t{1} << 31U; // rows * columns fits into 64 bits

std::int64_t csr_extent(const TensorSpec& tensor, const Expression& extent, const Scope& scope) {
  const std::int64_t value = extent.evaluate(scope);
  if (value < 1 || value > kMaxExtent) {
    throw ExpressionError(
        1, fmt::format("'{}' of the sparse matrix of '{}'", extent.text(), tensor.name),
        "1 to 2^31", std::to_string(value));
  }
  return value;
}

void require_elements(const TensorSpec& tensor, const Shape& shape, std::int64_t expected,
                      const std::string& what) {
  if (const std::int64_t count = element_count(tensor, shape); count != expected) {
    throw ExpressionError(1, fmt::format("tensor '{}' has {} elements", tensor.name, count),
                          fmt::format("{}: {}", what, expected));
  }
}

const TensorSpec& row_pointers(const TomlReader& generator, const std::string& name,
                               const std::vector<TensorSpec>& tensors) {
  std::vector<std::string> known;
  for (const TensorSpec& tensor : tensors) {
    if (tensor.generator.kind != GeneratorKind::CsrRows) {
      continue;
    }
    if (tensor.name == name) {
      return tensor;
    }
    known.push_back(tensor.name);
  }
  generator.fail_unknown("row_pointers", "tensor with the generator csr_rows", name, known);
}

} // namespace

CsrPattern parse_csr_pattern(const TomlReader& generator, const TensorSpec& tensor, bool is_rows,
                             std::vector<std::string>& keys) {
  if (is_floating(tensor.dtype) || size_bytes(tensor.dtype) < size_bytes(DType::I32)) {
    generator.fail("kind",
                   fmt::format("generator '{}' for a tensor of dtype {}", generator.string("kind"),
                               to_string(tensor.dtype)),
                   "i32, u32, i64 or u64");
  }
  if (!is_rows) {
    keys.emplace_back("row_pointers");
    return {generator.string("row_pointers"), {}, {}};
  }
  keys.insert(keys.end(), {"rows", "columns"});
  return {tensor.name, read_expression(generator, "rows"), read_expression(generator, "columns")};
}

void link_csr_columns(const TomlReader& table, std::vector<TensorSpec>& tensors) {
  for (TensorSpec& tensor : tensors) {
    if (tensor.generator.kind != GeneratorKind::CsrColumns) {
      continue;
    }
    const TensorSpec& pointers =
        row_pointers(table.table(tensor.name).table("generator"), tensor.csr->pointers, tensors);
    if (tensor.is_static != pointers.is_static) {
      table.fail(tensor.name,
                 fmt::format("only one of '{}' and '{}' is static", pointers.name, tensor.name),
                 "both or neither: they are one matrix");
    }
    tensor.csr = pointers.csr;
    tensor.generator_extent = pointers.generator_extent;
    tensor.generator.b = pointers.generator.b;
  }
}

void resolve_csr(const TensorSpec& tensor, const Shape& shape, const Scope& scope,
                 GeneratorSpec& spec) {
  const std::int64_t rows = csr_extent(tensor, tensor.csr->rows, scope);
  const std::int64_t columns = csr_extent(tensor, tensor.csr->columns, scope);
  const auto entries = static_cast<std::int64_t>(spec.a.low);
  if (entries > rows * columns) {
    throw ExpressionError(1,
                          fmt::format("the sparse matrix of '{}' has {} nonzeros in {} rows and "
                                      "{} columns",
                                      tensor.csr->pointers, entries, rows, columns),
                          "at most rows * columns");
  }
  if (spec.kind == GeneratorKind::CsrRows) {
    require_elements(tensor, shape, rows + 1, "one for each row, and one more");
  } else {
    require_elements(tensor, shape, entries, "one for each nonzero");
  }
  spec.csr = {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
              hash_name(tensor.csr->pointers)};
}

} // namespace winnow::tasks
