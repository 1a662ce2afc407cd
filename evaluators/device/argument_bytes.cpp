#include "evaluators/device/argument_bytes.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace winnow::evaluators {
namespace {

template <class T> ArgumentBytes bytes_of(const T& value, std::size_t bytes) {
  ArgumentBytes raw{};
  std::memcpy(raw.data(), &value, std::min(bytes, sizeof(T))); // little-endian: the low bytes
  return raw;
}

} // namespace

ArgumentBytes scalar_bytes(const tasks::ResolvedArgument& argument) {
  const auto bytes = static_cast<std::size_t>(argument.size_bytes);
  if (argument.kind == tasks::ResolvedArgument::Kind::Integer) {
    return bytes_of(argument.integer, bytes);
  }
  if (argument.kind == tasks::ResolvedArgument::Kind::Float && bytes == sizeof(double)) {
    return bytes_of(argument.real, bytes);
  }
  if (argument.kind == tasks::ResolvedArgument::Kind::Float && bytes == sizeof(float)) {
    return bytes_of(static_cast<float>(argument.real), bytes);
  }
  throw Error("a launch has a scalar argument of " + std::to_string(bytes) + " bytes");
}

ArgumentBytes address_bytes(std::uint64_t address) {
  return bytes_of(address, sizeof(address));
}

} // namespace winnow::evaluators
