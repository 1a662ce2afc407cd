#include "tasks/json_number.h"
#include "tasks/plan/plan_resolve.h"

#include <array>
#include <initializer_list>
#include <memory>
#include <string_view>

#include <nlohmann/json.hpp>

namespace winnow::tasks {
namespace {

using Json = nlohmann::json;

// Reads an enumerator whose number must be in [first, last].
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

// The same for enumerators whose numbers have gaps.
template <typename Enum> Enum one_of(const Json& json, std::initializer_list<Enum> known) {
  const int value = json.get<int>();
  for (const Enum candidate : known) {
    if (code(candidate) == value) {
      return candidate;
    }
  }
  throw Json::out_of_range::create(401, "unknown enumerator " + std::to_string(value), &json);
}

Json tensor_map_json(const ResolvedTensorMap& map) {
  return {{"buffer", map.buffer},
          {"offset_bytes", map.offset_bytes},
          {"dtype", code(map.dtype)},
          {"extents", map.extents},
          {"strides_bytes", map.strides_bytes},
          {"box", map.box},
          {"element_strides", map.element_strides},
          {"swizzle", code(map.options.swizzle)},
          {"interleave", code(map.options.interleave)},
          {"l2_promotion", code(map.options.l2_promotion)},
          {"fill", code(map.options.fill)}};
}

TensorMapOptions options_of(const Json& json) {
  return {
      one_of(json.at("swizzle"),
             {Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128}),
      one_of(json.at("interleave"), {Interleave::None, Interleave::Bytes16, Interleave::Bytes32}),
      one_of(json.at("l2_promotion"), {L2Promotion::None, L2Promotion::Bytes64,
                                       L2Promotion::Bytes128, L2Promotion::Bytes256}),
      enumerator(json.at("fill"), OutOfBoundsFill::Zero, OutOfBoundsFill::NaN)};
}

ResolvedTensorMap tensor_map_of(const Json& json) {
  ResolvedTensorMap map;
  json.at("buffer").get_to(map.buffer);
  json.at("offset_bytes").get_to(map.offset_bytes);
  map.dtype = dtype(json.at("dtype"));
  json.at("extents").get_to(map.extents);
  json.at("strides_bytes").get_to(map.strides_bytes);
  json.at("box").get_to(map.box);
  json.at("element_strides").get_to(map.element_strides);
  map.options = options_of(json);
  const std::size_t rank = map.extents.size();
  if (rank < 1 || rank > 5 || map.strides_bytes.size() != rank - 1 || map.box.size() != rank ||
      map.element_strides.size() != rank) {
    throw Json::out_of_range::create(401, "a tensor map of uneven lists", &json);
  }
  return map;
}

Json argument_json(const ResolvedArgument& argument) {
  return {{"kind", code(argument.kind)},
          {"buffer", argument.buffer},
          {"offset_bytes", argument.offset_bytes},
          {"integer", argument.integer},
          {"real", number_json(argument.real)},
          {"tensor_map",
           argument.tensor_map == nullptr ? Json() : tensor_map_json(*argument.tensor_map)},
          {"size_bytes", argument.size_bytes}};
}

ResolvedArgument argument_of(const Json& json) {
  using Kind = ResolvedArgument::Kind;
  ResolvedArgument argument;
  argument.kind = enumerator(json.at("kind"), Kind::Pointer, Kind::TensorMap);
  json.at("buffer").get_to(argument.buffer);
  json.at("offset_bytes").get_to(argument.offset_bytes);
  json.at("integer").get_to(argument.integer);
  argument.real = number_of(json.at("real"));
  if (argument.kind == Kind::TensorMap) {
    argument.tensor_map =
        std::make_shared<const ResolvedTensorMap>(tensor_map_of(json.at("tensor_map")));
  }
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
          {"cluster", step.cluster},
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

Json step_json(const LibraryStep& step) {
  return {{"library", step.library},
          {"operation", step.operation},
          {"a", step.a},
          {"b", step.b},
          {"c", step.c},
          {"a_type", code(step.a_type)},
          {"b_type", code(step.b_type)},
          {"c_type", code(step.c_type)},
          {"m", step.m},
          {"n", step.n},
          {"k", step.k},
          {"b_transposed", step.b_transposed},
          {"compute", code(step.compute)},
          {"alpha", number_json(step.alpha)}};
}

LaunchStep launch_of(const Json& json) {
  LaunchStep step;
  json.at("kernel").get_to(step.kernel);
  json.at("grid").get_to(step.grid);
  json.at("block").get_to(step.block);
  json.at("cluster").get_to(step.cluster);
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

LibraryStep library_of(const Json& json) {
  LibraryStep step;
  json.at("library").get_to(step.library);
  json.at("operation").get_to(step.operation);
  json.at("a").get_to(step.a);
  json.at("b").get_to(step.b);
  json.at("c").get_to(step.c);
  step.a_type = dtype(json.at("a_type"));
  step.b_type = dtype(json.at("b_type"));
  step.c_type = dtype(json.at("c_type"));
  json.at("m").get_to(step.m);
  json.at("n").get_to(step.n);
  json.at("k").get_to(step.k);
  json.at("b_transposed").get_to(step.b_transposed);
  step.compute = enumerator(json.at("compute"), LibraryCompute::F32, LibraryCompute::I32);
  step.alpha = number_of(json.at("alpha"));
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
          {"once", buffer.once ? number_json(*buffer.once) : Json()},
          {"static", buffer.is_static},
          {"keep", buffer.keep}};
}

Buffer buffer_of(const Json& json) {
  Buffer buffer;
  json.at("name").get_to(buffer.name);
  buffer.kind = enumerator(json.at("kind"), Buffer::Kind::Input, Buffer::Kind::Scratch);
  buffer.dtype = dtype(json.at("dtype"));
  json.at("count").get_to(buffer.count);
  buffer.generator.kind =
      enumerator(json.at("generator"), GeneratorSpec::Kind::Normal, GeneratorSpec::Kind::Special);
  buffer.generator.a = number_of(json.at("a"));
  buffer.generator.b = number_of(json.at("b"));
  if (const Json& once = json.at("once"); !once.is_null()) {
    buffer.once = number_of(once);
  }
  json.at("static").get_to(buffer.is_static);
  json.at("keep").get_to(buffer.keep);
  return buffer;
}

Json steps_json(const std::vector<Step>& steps) {
  Json json = Json::array();
  for (const Step& step : steps) {
    json.push_back(std::visit([](const auto& s) { return step_json(s); }, step));
  }
  return json;
}

std::vector<Step> steps_of(const Json& json) {
  std::vector<Step> steps;
  for (const Json& step : json) {
    if (step.contains("kernel")) {
      steps.emplace_back(launch_of(step));
    } else if (step.contains("fill")) {
      steps.emplace_back(fill_of(step));
    } else if (step.contains("library")) {
      steps.emplace_back(library_of(step));
    } else {
      steps.emplace_back(copy_of(step));
    }
  }
  return steps;
}

} // namespace

void to_json(Json& json, const ResolvedPlan& plan) {
  json = {{"buffers", Json::array()},
          {"prepare", steps_json(plan.prepare)},
          {"steps", steps_json(plan.steps)}};
  for (const Buffer& buffer : plan.buffers) {
    json["buffers"].push_back(buffer_json(buffer));
  }
}

void from_json(const Json& json, ResolvedPlan& plan) {
  plan = {};
  for (const Json& buffer : json.at("buffers")) {
    plan.buffers.push_back(buffer_of(buffer));
  }
  plan.prepare = steps_of(json.at("prepare"));
  plan.steps = steps_of(json.at("steps"));
}

} // namespace winnow::tasks
