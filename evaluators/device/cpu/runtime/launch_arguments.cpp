#include "evaluators/device/cpu/runtime/launch_arguments.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace winnow::evaluators::cpu {
namespace {

ArgumentBytes value_of(const tasks::ResolvedArgument& argument, const GuardedBuffers& buffers) {
  if (argument.kind == tasks::ResolvedArgument::Kind::TensorMap) {
    throw Error("this device has no tensor maps");
  }
  if (argument.kind != tasks::ResolvedArgument::Kind::Pointer) {
    return scalar_bytes(argument);
  }
  if (argument.buffer.empty()) {
    return {};
  }
  const GuardedBuffer* buffer = buffers.find(argument.buffer);
  if (buffer == nullptr) {
    throw Error("a launch uses buffer '" + argument.buffer + "', which was not allocated");
  }
  return address_bytes(reinterpret_cast<std::uintptr_t>(buffer->data + argument.offset_bytes));
}

} // namespace

LaunchArguments::LaunchArguments(const std::vector<tasks::ResolvedArgument>& arguments,
                                 const GuardedBuffers& buffers) {
  values_.reserve(arguments.size());
  for (const tasks::ResolvedArgument& argument : arguments) {
    values_.push_back(value_of(argument, buffers));
  }
  for (ArgumentBytes& value : values_) {
    pointers_.push_back(value.data());
  }
}

bool LaunchArguments::contains(const void* begin, std::size_t bytes) const {
  return holds(std::as_bytes(std::span(values_)), begin, bytes) ||
         holds(std::as_bytes(std::span(pointers_)), begin, bytes);
}

void fill_repeating(std::byte* data, std::size_t bytes, const void* value,
                    std::size_t value_bytes) {
  if (bytes == 0) {
    return;
  }
  std::size_t done = std::min(bytes, value_bytes);
  std::memcpy(data, value, done);
  while (done < bytes) { // doubles the filled part, which keeps the pattern aligned
    const std::size_t more = std::min(done, bytes - done);
    std::memcpy(data + done, data, more);
    done += more;
  }
}

} // namespace winnow::evaluators::cpu
