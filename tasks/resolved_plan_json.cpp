#include "tasks/json_number.h"
#include "tasks/plan_resolve.h"

#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

using Json = nlohmann::json;

// An enumerator by its number, which must be in [first, last].
template <typename Enum> Enum enumerator(const Json& json, Enum first, Enum last) {
  const int value = json.get<int>();
  if (value < static_cast<int>(first) || value > static_cast<int>(last)) {
    throw Json::out_of_range::create(401, "unknown enumerator " + std::to_string(value), &json);
  }
  return static_cast<Enum>(value);
}

template <typename Enum> int code(Enum value) {
  return static_cast<int>(value);
}

DType dtype(const Json& json) {
  return enumerator(json, DType::F32, all_dtypes().back());
}

Json argument_json(const ResolvedArgument& argument) {
  return {{"kind", code(argument.kind)},           {"buffer", argument.buffer},
          {"offset_bytes", argument.offset_bytes}, {"integer", argument.integer},
          {"real", number_json(argument.real)},    {"size_bytes", argument.size_bytes}};
}

ResolvedArgument argument_of(const Json& json) {
  using Kind = ResolvedArgument::Kind;
  ResolvedArgument argument;
  argument.kind = enumerator(json.at("kind"), Kind::Pointer, Kind::Float);
  json.at("buffer").get_to(argument.buffer);
  json.at("offset_bytes").get_to(argument.offset_bytes);
  json.at("integer").get_to(argument.integer);
  argument.real = number_of(json.at("real"));
  json.at("size_bytes").get_to(argument.size_bytes);
  return argument;
}

Json step_json(const LaunchStep& step) {
  Json arguments = Json::array();
  for (const ResolvedArgument& argument : step.arguments) {
    arguments.push_back(argument_json(argument));
  }
  return {{"kernel", step.kernel},
          {"grid", step.grid},
          {"block", step.block},
          {"shared_bytes", step.shared_bytes},
          {"cooperative", step.cooperative},
          {"arguments", std::move(arguments)}};
}

Json step_json(const FillStep& step) {
  return {{"fill", step.buffer},
          {"offset_bytes", step.offset_bytes},
          {"count", step.count},
          {"dtype", code(step.dtype)},
          {"value", number_json(step.value)}};
}

Json step_json(const CopyStep& step) {
  return {{"copy", step.from},
          {"to", step.to},
          {"from_offset_bytes", step.from_offset_bytes},
          {"to_offset_bytes", step.to_offset_bytes},
          {"row_bytes", step.row_bytes},
          {"rows", step.rows},
          {"from_stride_bytes", step.from_stride_bytes},
          {"to_stride_bytes", step.to_stride_bytes}};
}

LaunchStep launch_of(const Json& json) {
  LaunchStep step;
  json.at("kernel").get_to(step.kernel);
  json.at("grid").get_to(step.grid);
  json.at("block").get_to(step.block);
  json.at("shared_bytes").get_to(step.shared_bytes);
  json.at("cooperative").get_to(step.cooperative);
  for (const Json& argument : json.at("arguments")) {
    step.arguments.push_back(argument_of(argument));
  }
  return step;
}

FillStep fill_of(const Json& json) {
  FillStep step;
  json.at("fill").get_to(step.buffer);
  json.at("offset_bytes").get_to(step.offset_bytes);
  json.at("count").get_to(step.count);
  step.dtype = dtype(json.at("dtype"));
  step.value = number_of(json.at("value"));
  return step;
}

CopyStep copy_of(const Json& json) {
  CopyStep step;
  json.at("copy").get_to(step.from);
  json.at("to").get_to(step.to);
  json.at("from_offset_bytes").get_to(step.from_offset_bytes);
  json.at("to_offset_bytes").get_to(step.to_offset_bytes);
  json.at("row_bytes").get_to(step.row_bytes);
  json.at("rows").get_to(step.rows);
  json.at("from_stride_bytes").get_to(step.from_stride_bytes);
  json.at("to_stride_bytes").get_to(step.to_stride_bytes);
  return step;
}

Json buffer_json(const Buffer& buffer) {
  return {{"name", buffer.name},
          {"kind", code(buffer.kind)},
          {"dtype", code(buffer.dtype)},
          {"count", buffer.count},
          {"generator", code(buffer.generator.kind)},
          {"a", number_json(buffer.generator.a)},
          {"b", number_json(buffer.generator.b)},
          {"once", buffer.once ? number_json(*buffer.once) : Json()}};
}

Buffer buffer_of(const Json& json) {
  Buffer buffer;
  json.at("name").get_to(buffer.name);
  buffer.kind = enumerator(json.at("kind"), Buffer::Kind::Input, Buffer::Kind::Scratch);
  buffer.dtype = dtype(json.at("dtype"));
  json.at("count").get_to(buffer.count);
  buffer.generator.kind =
      enumerator(json.at("generator"), GeneratorSpec::Kind::Normal, GeneratorSpec::Kind::Constant);
  buffer.generator.a = number_of(json.at("a"));
  buffer.generator.b = number_of(json.at("b"));
  if (const Json& once = json.at("once"); !once.is_null()) {
    buffer.once = number_of(once);
  }
  return buffer;
}

} // namespace

void to_json(Json& json, const ResolvedPlan& plan) {
  json = {{"buffers", Json::array()}, {"steps", Json::array()}};
  for (const Buffer& buffer : plan.buffers) {
    json["buffers"].push_back(buffer_json(buffer));
  }
  for (const Step& step : plan.steps) {
    json["steps"].push_back(std::visit([](const auto& s) { return step_json(s); }, step));
  }
}

void from_json(const Json& json, ResolvedPlan& plan) {
  plan = {};
  for (const Json& buffer : json.at("buffers")) {
    plan.buffers.push_back(buffer_of(buffer));
  }
  for (const Json& step : json.at("steps")) {
    if (step.contains("kernel")) {
      plan.steps.emplace_back(launch_of(step));
    } else if (step.contains("fill")) {
      plan.steps.emplace_back(fill_of(step));
    } else {
      plan.steps.emplace_back(copy_of(step));
    }
  }
}

} // namespace winnow::tasks
