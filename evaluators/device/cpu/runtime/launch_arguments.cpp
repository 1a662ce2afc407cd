#include "evaluators/device/cpu/runtime/launch_arguments.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>

namespace winnow::evaluators::cpu {
namespace {

template <class T> std::array<std::byte, 8> bytes_of(const T& value, std::size_t bytes) {
  std::array<std::byte, 8> raw{};
  std::memcpy(raw.data(), &value, std::min(bytes, sizeof(T))); // little-endian: the low bytes
  return raw;
}

std::array<std::byte, 8> value_of(const tasks::ResolvedArgument& argument,
                                  const GuardedBuffers& buffers) {
  const auto bytes = static_cast<std::size_t>(argument.size_bytes);
  switch (argument.kind) {
  case tasks::ResolvedArgument::Kind::Integer:
    return bytes_of(argument.integer, bytes);
  case tasks::ResolvedArgument::Kind::Float:
    if (bytes == sizeof(double)) {
      return bytes_of(argument.real, bytes);
    }
    if (bytes == sizeof(float)) {
      return bytes_of(static_cast<float>(argument.real), bytes);
    }
    throw Error("a launch has a float argument of " + std::to_string(bytes) + " bytes");
  case tasks::ResolvedArgument::Kind::TensorMap:
    throw Error("this device has no tensor maps");
  case tasks::ResolvedArgument::Kind::Pointer:
    break;
  }
  if (argument.buffer.empty()) {
    return {};
  }
  const GuardedBuffer* buffer = buffers.find(argument.buffer);
  if (buffer == nullptr) {
    throw Error("a launch uses buffer '" + argument.buffer + "', which was not allocated");
  }
  const std::byte* address = buffer->data + argument.offset_bytes;
  return bytes_of(address, sizeof(address));
}

} // namespace

LaunchArguments::LaunchArguments(const std::vector<tasks::ResolvedArgument>& arguments,
                                 const GuardedBuffers& buffers) {
  values_.reserve(arguments.size());
  for (const tasks::ResolvedArgument& argument : arguments) {
    values_.push_back(value_of(argument, buffers));
  }
  for (Value& value : values_) {
    pointers_.push_back(value.data());
  }
}

void fill_repeating(std::byte* data, std::size_t bytes, const void* value,
                    std::size_t value_bytes) {
  if (bytes == 0) {
    return;
  }
  std::size_t done = std::min(bytes, value_bytes);
  std::memcpy(data, value, done);
  while (done < bytes) { // doubles what is there, which stays in step with the value
    const std::size_t more = std::min(done, bytes - done);
    std::memcpy(data + done, data, more);
    done += more;
  }
}

} // namespace winnow::evaluators::cpu
