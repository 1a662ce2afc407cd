#include "tasks/plan/signature.h"

#include "tasks/expression/expression.h"

#include <charconv>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::size_t kMaxEncodedBytes = 1U << 16U;
constexpr int kMaxSizeBytes = 1 << 20;
constexpr int kPointerBytes = 8;

constexpr std::string_view kLetters = "piufbo"; // of ParameterType::Kind, in its order

bool accept(std::string_view& text, char c) {
  if (!text.starts_with(c)) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

std::optional<ParameterType> decode_parameter(std::string_view item) {
  const std::size_t kind = item.empty() ? std::string_view::npos : kLetters.find(item.front());
  if (kind == std::string_view::npos) {
    return std::nullopt;
  }
  item.remove_prefix(1);
  ParameterType parameter;
  parameter.kind = static_cast<ParameterType::Kind>(kind);
  const auto [stop, error] =
      std::from_chars(item.data(), item.data() + item.size(), parameter.size_bytes);
  if (error != std::errc() || parameter.size_bytes < 1 || parameter.size_bytes > kMaxSizeBytes) {
    return std::nullopt;
  }
  item.remove_prefix(static_cast<std::size_t>(stop - item.data()));
  if (parameter.kind == ParameterType::Kind::Pointer) {
    parameter.pointee_size_bytes = parameter.size_bytes;
    parameter.size_bytes = kPointerBytes;
    parameter.pointee_float = accept(item, 'f');
    parameter.pointee_const = accept(item, 'c');
  }
  if (!accept(item, ':') || (!item.empty() && !is_identifier(item))) {
    return std::nullopt;
  }
  parameter.name = item;
  return parameter;
}

} // namespace

std::string encode_parameters(const std::vector<ParameterType>& parameters) {
  std::string text;
  for (const ParameterType& parameter : parameters) {
    const bool pointer = parameter.kind == ParameterType::Kind::Pointer;
    text += fmt::format("{}{}{}{}{}:{}", text.empty() ? "" : " ",
                        kLetters[static_cast<std::size_t>(parameter.kind)],
                        pointer ? parameter.pointee_size_bytes : parameter.size_bytes,
                        pointer && parameter.pointee_float ? "f" : "",
                        pointer && parameter.pointee_const ? "c" : "", parameter.name);
  }
  return text;
}

std::optional<std::vector<ParameterType>> decode_parameters(std::string_view text) {
  std::vector<ParameterType> parameters;
  if (text.size() > kMaxEncodedBytes) {
    return std::nullopt;
  }
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const auto parameter = decode_parameter(text.substr(0, end));
    const bool trailing_space = end != std::string_view::npos && end + 1 == text.size();
    if (!parameter || trailing_space) {
      return std::nullopt;
    }
    parameters.push_back(*parameter);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return parameters;
}

} // namespace winnow::tasks
