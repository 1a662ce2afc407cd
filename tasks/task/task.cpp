#include "tasks/task/task.h"

#include "base/text.h"
#include "tasks/task/csr_pattern.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace winnow::tasks {

std::string_view to_string(Role role) {
  return name_by_number(role, {"unknown_role", "input", "output", "inout"});
}

std::string_view to_string(ShapeSet set) {
  return name_by_number(set, {"unknown_set", "tiny", "search", "promotion", "held_out"});
}

bool is_hidden(ShapeSet set) {
  return set == ShapeSet::Promotion || set == ShapeSet::HeldOut;
}

std::size_t position_in_set(const Shape& shape) {
  return std::stoul(shape.id.substr(shape.id.find('/') + 1));
}

// The shortest text that reads back as the same float, because scalars are rounded to f32.
std::string scalar_text(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) == value ? fmt::format("{}", rounded)
                                               : fmt::format("{:.9g}", value);
}

std::string to_string(const Shape& shape) {
  std::vector<std::string> names = shape.axis_order;
  if (names.empty()) {
    std::transform(shape.axes.begin(), shape.axes.end(), std::back_inserter(names),
                   [](const auto& axis) { return axis.first; });
  }
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, shape.axes.at(name));
  }
  for (const auto& [name, value] : shape.scalars) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, scalar_text(value));
  }
  return text;
}

const std::vector<std::string>& device_kinds() {
  static const std::vector<std::string> kinds{"cpu", "cuda", "hip"};
  return kinds;
}

std::string device_words(std::string_view last) {
  const auto& kinds = device_kinds();
  return join({kinds.begin(), kinds.end() - 1}, ", ") + std::string(last) + kinds.back();
}

std::vector<Shape> Task::shapes_of(ShapeSet set, std::string_view device) const {
  std::vector<Shape> chosen;
  for (const Shape& shape : shapes) {
    const auto& devices = shape.devices;
    const bool meant = devices.empty() || contains(devices, device);
    if (shape.set == set && meant) {
      chosen.push_back(shape);
    }
  }
  return chosen;
}

const TensorSpec* Task::find_tensor(std::string_view tensor_name) const {
  return find_named(tensors, tensor_name);
}

namespace {

// A scope with integer scalars only, for tensor shapes.
Scope integer_scope(const Shape& shape) {
  Scope scope;
  for (const auto& [name, value] : shape.axes) {
    scope.set(name, value);
  }
  for (const auto& [name, value] : shape.scalars) {
    scope.set(name, static_cast<std::int64_t>(value));
  }
  return scope;
}

} // namespace

std::int64_t element_count(const TensorSpec& tensor, const Shape& shape) {
  const Scope scope = integer_scope(shape);
  std::int64_t count = 1;
  for (const Expression& extent : tensor.shape) {
    const std::int64_t value = extent.evaluate(scope);
    if (value < 1) {
      throw ExpressionError(
          1, fmt::format("'{}' of tensor '{}' is below 1", extent.text(), tensor.name),
          "at least 1", std::to_string(value));
    }
    if (__builtin_mul_overflow(count, value, &count)) {
      throw ExpressionError(1, fmt::format("tensor '{}' has more than 2^63 elements", tensor.name));
    }
  }
  return count;
}

double tensor_bytes(const TensorSpec& tensor, const Shape& shape) {
  return static_cast<double>(element_count(tensor, shape)) *
         static_cast<double>(size_bytes(tensor.dtype));
}

std::vector<std::string_view> code_sentences(const Task& task) {
  std::vector<std::string_view> sentences;
  for (const TensorSpec& tensor : task.tensors) {
    const std::string_view sentence = how_to_read(tensor.dtype);
    if (!sentence.empty() && !contains(sentences, sentence)) {
      sentences.push_back(sentence);
    }
  }
  return sentences;
}

bool is_computed(const TensorSpec& tensor) {
  return tensor.generator.kind == GeneratorSpec::Kind::Reference;
}

GeneratorSpec generator_at(const TensorSpec& tensor, const Shape& shape) {
  GeneratorSpec spec = tensor.generator;
  if (!tensor.generator_extent.empty()) {
    const std::int64_t extent = tensor.generator_extent.evaluate(integer_scope(shape));
    if (extent < 1 || extent > (std::int64_t{1} << 40U)) {
      throw ExpressionError(
          1,
          fmt::format("'{}' of the generator of '{}'", tensor.generator_extent.text(), tensor.name),
          "1 to 2^40", std::to_string(extent));
    }
    spec.a = static_cast<double>(extent);
  }
  if (tensor.csr) {
    resolve_csr(tensor, shape, integer_scope(shape), spec);
  }
  return spec;
}

void bind_shape(const Task& task, const Shape& shape, Scope& scope) {
  for (const auto& [name, value] : shape.axes) {
    scope.set(name, value);
  }
  for (const ScalarSpec& scalar : task.scalars) {
    const auto stated = shape.scalars.find(scalar.name);
    const double value = stated == shape.scalars.end() ? scalar.value : stated->second;
    if (is_floating(scalar.dtype)) {
      scope.set(scalar.name, value);
    } else {
      scope.set(scalar.name, static_cast<std::int64_t>(value));
    }
  }
}

Task reference_view(const Task& task) {
  Task view = task;
  view.tensors.clear();
  for (TensorSpec tensor : task.tensors) {
    const bool computed = tensor.role != Role::Input && is_floating(tensor.dtype);
    if (!computed) {
      view.tensors.push_back(tensor);
      continue;
    }
    tensor.dtype = DType::F64;
    TensorSpec magnitude = tensor;
    magnitude.name += kMagnitudeSuffix;
    magnitude.role = Role::Output;
    magnitude.generator = {};
    magnitude.description = "what the error bound of '" + tensor.name + "' scales with";
    view.tensors.push_back(std::move(tensor));
    view.tensors.push_back(std::move(magnitude));
  }
  return view;
}

bool is_scaled(const std::vector<std::string>& flags) {
  return contains(flags, "scaled");
}

bool has_doubts(const std::vector<std::string>& flags) {
  return flags.size() > (is_scaled(flags) ? 1U : 0U);
}

} // namespace winnow::tasks
