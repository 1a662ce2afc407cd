#include "tasks/parse/task_rules.h"

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

} // namespace winnow::tasks
