#include "tasks/parse/task_rules.h"

#include "base/text.h"
#include "base/text/diagnostic.h"
#include "tasks/expression/toml_expression.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

std::vector<Expression> sizes_of_tensor(const TensorSpec& tensor) {
  std::vector<Expression> sizes = tensor.shape;
  sizes.push_back(tensor.generator_extent);
  if (tensor.csr) {
    sizes.insert(sizes.end(), {tensor.csr->rows, tensor.csr->columns});
  }
  std::erase_if(sizes, [](const Expression& size) { return size.empty(); });
  return sizes;
}

bool uses(const TensorSpec& tensor, const std::string& axis) {
  const std::vector<Expression> sizes = sizes_of_tensor(tensor);
  return std::any_of(sizes.begin(), sizes.end(),
                     [&](const Expression& size) { return size.column_of(axis) > 0; });
}

void check_hidden(const TomlReader& shapes, const Task& task, const Shape& search,
                  const std::string& device) {
  for (const ShapeSet set : {ShapeSet::Promotion, ShapeSet::HeldOut}) {
    for (const Shape& hidden : task.shapes_of(set, device)) {
      if (hidden.axes == search.axes) {
        shapes.tables(to_string(set))
            .at(position_in_set(hidden))
            .fail({}, fmt::format("the hidden shape {} has the sizes of {}", hidden.id, search.id),
                  "sizes that no prompt shows, such as primes near them");
      }
    }
  }
}

} // namespace

void check_axes(const TomlReader& axes, const Task& task) {
  if (task.torch) {
    return;
  }
  for (const Axis& axis : task.axes) {
    if (std::none_of(task.tensors.begin(), task.tensors.end(),
                     [&](const TensorSpec& tensor) { return uses(tensor, axis.name); })) {
      axes.fail(axis.name, fmt::format("no tensor uses the axis '{}'", axis.name),
                "an axis in the shape or the generator of a tensor; a number that kernels get "
                "beside the tensors is a scalar");
    }
  }
}

void check_hidden_shapes(const TomlReader& shapes, const Task& task) {
  if (task.torch) {
    return;
  }
  for (const std::string& device : device_kinds()) {
    for (const Shape& search : task.shapes_of(ShapeSet::Search, device)) {
      check_hidden(shapes, task, search, device);
    }
  }
}

namespace {

Precision parse_precision(const TomlReader& table, std::string_view key) {
  const std::string name = table.string(key);
  if (const auto precision = precision_from_string(name)) {
    return *precision;
  }
  std::vector<std::string> known;
  for (const Precision precision : all_precisions()) {
    known.emplace_back(to_string(precision));
  }
  table.fail_unknown(key, "precision", name, known);
}

// Integer outputs are exact, so the table must not state a limit.
void check_integers(const TomlReader& table, const Task& task) {
  table.allow_keys({"precision", "reproducible"});
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role != Role::Input && is_floating(tensor.dtype)) {
      table.fail("precision",
                 fmt::format("precision 'int', but output '{}' is {}", tensor.name,
                             to_string(tensor.dtype)),
                 "a floating precision");
    }
  }
}

Expression norm_multiple(const TomlReader& table, const Expression& multiple) {
  return table.has("norm_multiple") ? read_expression(table, "norm_multiple")
                                    : Expression::parse(fmt::format("({}) / 4", multiple.text()));
}

// The names must be those of intermediates in reference.cu, else the allowance says nothing.
std::map<std::string, Precision> parse_allowed(const TomlReader& table, const Tolerance& tolerance,
                                               const std::vector<std::string>& intermediates) {
  std::map<std::string, Precision> allowed;
  const auto allows = table.optional_table("allows");
  for (const auto& [name, at, value] : allows ? allows->members() : std::vector<TomlMember>()) {
    if (!contains(intermediates, name)) {
      allows->fail_unknown(name, "intermediate of reference.cu", name, intermediates);
    }
    const Precision format = parse_precision(*allows, name);
    if (format == Precision::Int || epsilon(format) <= epsilon(tolerance.accumulate)) {
      allows->fail(name,
                   fmt::format("{} is no coarser than {}, in which sums are formed",
                               to_string(format), to_string(tolerance.accumulate)),
                   "a coarser floating precision, or no entry");
    }
    allowed[name] = format;
  }
  return allowed;
}

} // namespace

Tolerance parse_tolerance(const TomlReader& table, const Task& task,
                          const std::vector<std::string>& intermediates) {
  table.allow_keys({"precision", "accumulate", "multiple", "norm_multiple", "absolute", "nan",
                    "reproducible", "allows"});
  Tolerance tolerance;
  tolerance.precision = tolerance.accumulate = parse_precision(table, "precision");
  tolerance.reproducible = table.boolean_or("reproducible", true);
  if (tolerance.precision == Precision::Int) {
    check_integers(table, task);
    return tolerance;
  }
  if (table.has("accumulate")) {
    tolerance.accumulate = parse_precision(table, "accumulate");
  }
  if (tolerance.accumulate == Precision::Int) {
    table.fail("accumulate", "the outputs are floating, but 'accumulate' is an integer type",
               "a floating precision");
  }
  tolerance.multiple = read_expression(table, "multiple");
  tolerance.norm_multiple = norm_multiple(table, tolerance.multiple);
  tolerance.absolute = table.has("absolute") ? table.number("absolute") : 0;
  tolerance.nan_allowed = table.boolean_or("nan", false);
  if (tolerance.absolute < 0) {
    table.fail("absolute", "a negative tolerance", "0 or more");
  }
  tolerance.allows = parse_allowed(table, tolerance, intermediates);
  return tolerance;
}

} // namespace winnow::tasks
