#include "tasks/doubts.h"

#include "tasks/parse/generator_parse.h"
#include "tasks/shared_need.h"
#include "tasks/task/task_places.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr double kTooMany = 1.25; // times the bytes of the tensors; `bytes` may be rounded
constexpr double kTooFew = 0.1;

struct TensorBytes {
  double read = 0;
  double written = 0;
  double all() const { return read + written; }
};

TensorBytes bytes_of(const Task& task, const Shape& shape) {
  TensorBytes bytes;
  for (const TensorSpec& tensor : task.tensors) {
    const double size = tensor_bytes(tensor, shape);
    bytes.read += tensor.role == Role::Output ? 0 : size;
    bytes.written += tensor.role == Role::Input ? 0 : size;
  }
  return bytes;
}

std::string doubt_about_distribution(const Task& task) {
  for (const TensorSpec& tensor : task.tensors) {
    if (is_fixed(tensor) && tensor.generator.kind != GeneratorSpec::Kind::Constant) {
      return fmt::format("fixed distribution: '{}' has the same in every launch, so a kernel may "
                         "know it; give its generator ranges, such as [0.5, 2] ({})",
                         tensor.name, place_of_tensor(task, tensor.name));
    }
  }
  return {};
}

/// A task with indices need not read all of its inputs.
bool chooses_by_index(const Task& task) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [](const TensorSpec& tensor) {
    using Kind = GeneratorSpec::Kind;
    const Kind kind = tensor.generator.kind;
    return kind == Kind::Index || kind == Kind::Permutation || kind == Kind::OneHot ||
           kind == Kind::CsrColumns || kind == Kind::Reference;
  });
}

std::string doubt_about_bytes(const Task& task, const Shape& shape) {
  Scope scope;
  bind_shape(task, shape, scope);
  const double declared = task.bytes.evaluate_float(scope);
  const TensorBytes tensors = bytes_of(task, shape);
  const std::string is =
      fmt::format("`bytes` is {:.4g} at {} ({}), ", declared, shape.id, to_string(shape));
  if (declared > kTooMany * tensors.all()) {
    return is +
           fmt::format(
               "{:.3g} times the {:.4g} bytes of the task's tensors; `bytes` must be the least "
               "that a kernel moves: it reads each input once and writes each output once",
               declared / tensors.all(), tensors.all());
  }
  if (declared < tensors.written) {
    return is +
           fmt::format("less than the {:.4g} bytes of the outputs, but a kernel writes all outputs",
                       tensors.written);
  }
  if (declared < kTooFew * tensors.all() && !chooses_by_index(task)) {
    return is + fmt::format("{:.3g} of the {:.4g} bytes of the task's tensors; this is right only "
                            "if a kernel need not read most of its inputs",
                            declared / tensors.all(), tensors.all());
  }
  return {};
}

std::string doubt_about_size(const Task& task, const Shape& shape) {
  const std::uint64_t bytes = task.torch ? 0 : selftest_bytes(task, shape);
  if (bytes <= kSharedBytes) {
    return {};
  }
  return why_too_large(shape, bytes, kSharedBytes, "its inputs and the reference's answers") +
         ": make the shape smaller";
}

void add_equal_shapes(const std::vector<Shape>& hidden, const std::vector<Shape>& known,
                      const char* consequence, std::vector<std::string>& doubts) {
  for (const Shape& shape : hidden) {
    const auto equal = std::find_if(known.begin(), known.end(),
                                    [&](const Shape& one) { return one.axes == shape.axes; });
    if (equal != known.end()) {
      doubts.push_back(fmt::format("{} has the sizes of {} ({}): {}", shape.id, equal->id,
                                   to_string(*equal), consequence));
    }
  }
}

} // namespace

std::vector<std::string> doubts_of(const Task& task, std::string_view device_kind) {
  using enum ShapeSet;
  std::vector<std::string> doubts;
  std::vector<Shape> shown = task.shapes_of(Tiny, device_kind);
  const std::vector<Shape> search = task.shapes_of(Search, device_kind);
  shown.insert(shown.end(), search.begin(), search.end());
  const std::vector<Shape> gates = task.shapes_of(Promotion, device_kind);
  const std::vector<Shape> held_out = task.shapes_of(HeldOut, device_kind);
  constexpr const char* kShown =
      "a kernel passes this shape if it works only at the sizes in prompts";
  add_equal_shapes(gates, shown, kShown, doubts);
  add_equal_shapes(held_out, shown, kShown, doubts);
  add_equal_shapes(held_out, gates, "this shape tests nothing new", doubts);
  for (const std::vector<Shape>* shapes : {&std::as_const(shown), &gates, &held_out}) {
    for (const Shape& shape : *shapes) {
      if (std::string doubt = doubt_about_size(task, shape); !doubt.empty()) {
        doubts.push_back(doubt + " (" + place_of_shape(task, shape) + ")");
      }
    }
  }
  if (std::string doubt = doubt_about_distribution(task); !doubt.empty()) {
    doubts.push_back(std::move(doubt));
  }
  for (const Shape& shape : search) {
    if (std::string doubt = doubt_about_bytes(task, shape); !doubt.empty()) {
      doubts.push_back(doubt + " (" + place_of_key(task, "bytes") + ")");
      break; // all shapes share the expression
    }
  }
  return doubts;
}

} // namespace winnow::tasks
