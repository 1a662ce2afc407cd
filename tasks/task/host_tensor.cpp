#include "tasks/task/host_tensor.h"

#include "base/parallel.h"
#include "base/text.h"
#include "tasks/inputs/input_generator.h"

namespace winnow::tasks {

HostBytes::HostBytes(const HostBytes& other) : HostBytes(other.size_) {
  copy_in_parts({other.data(), other.size_}, {data(), size_});
}

void HostBytes::resize(std::size_t size) {
  if (size != size_) {
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size); // NOLINT(modernize-avoid-c-arrays)
    size_ = size;
  }
}

bool operator==(const HostBytes& left, const HostBytes& right) {
  return equal_in_parts(left, right);
}

std::int64_t HostTensor::count() const {
  return static_cast<std::int64_t>(bytes.size() / size_bytes(dtype));
}

double HostTensor::at(std::int64_t index) const {
  return load_element(dtype, bytes.data() + static_cast<std::size_t>(index) * size_bytes(dtype));
}

void HostTensor::set(std::int64_t index, double value) {
  store_element(dtype, bytes.data() + static_cast<std::size_t>(index) * size_bytes(dtype), value);
}

std::vector<std::int64_t> extents_of(const TensorSpec& tensor, const Task& task,
                                     const Shape& shape) {
  Scope scope;
  bind_shape(task, shape, scope);
  auto extents = each<std::int64_t>(
      tensor.shape, [&](const Expression& extent) { return extent.evaluate(scope); });
  return extents.empty() ? std::vector<std::int64_t>{1} : extents;
}

HostTensor unset_tensor(const TensorSpec& tensor, const Task& task, const Shape& shape) {
  HostTensor unset;
  unset.dtype = tensor.dtype;
  unset.extents = extents_of(tensor, task, shape);
  const auto count = static_cast<std::size_t>(element_count(tensor, shape));
  unset.bytes.resize(count * size_bytes(tensor.dtype));
  return unset;
}

HostTensors draw_inputs(const Task& task, const Shape& shape, std::uint64_t seed) {
  HostTensors inputs;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == Role::Output) {
      continue;
    }
    HostTensor drawn = unset_tensor(tensor, task, shape);
    generate_tensor(generator_at(tensor, shape), tensor.dtype, seed, tensor.name,
                    drawn.bytes.data(), static_cast<std::uint64_t>(drawn.count()));
    inputs.emplace(tensor.name, std::move(drawn));
  }
  return inputs;
}

} // namespace winnow::tasks
