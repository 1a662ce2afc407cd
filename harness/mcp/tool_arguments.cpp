#include "harness/mcp/tool_arguments.h"

#include <utility>

namespace winnow::harness {

nlohmann::json object_schema(nlohmann::json properties, const std::vector<std::string>& required) {
  if (properties.is_null() || properties.empty()) {
    properties = nlohmann::json::object();
  }
  nlohmann::json schema{
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) {
    schema["required"] = required;
  }
  return schema;
}

nlohmann::json list_schema(const std::string& description, nlohmann::json items, std::size_t most) {
  return {{"type", "array"},
          {"description", description},
          {"items", std::move(items)},
          {"minItems", 0},
          {"maxItems", most}};
}

nlohmann::json text_schema(const std::string& description) {
  return {{"type", "string"}, {"description", description}};
}

nlohmann::json word_schema(const std::string& description, const std::vector<std::string>& words) {
  return {{"type", "string"}, {"description", description}, {"enum", words}};
}

nlohmann::json flag_schema(const std::string& description) {
  return {{"type", "boolean"}, {"description", description}};
}

nlohmann::json number_schema(const std::string& description, std::int64_t least,
                             std::int64_t most) {
  return {{"type", "integer"}, {"description", description}, {"minimum", least}, {"maximum", most}};
}

nlohmann::json task_schema() {
  return text_schema("name of the task, as list_tasks shows it, or category/name");
}

nlohmann::json device_schema() {
  return text_schema("cpu, cuda, hip, or one device such as cuda:0 (default: the best that the "
                     "judge has)");
}

nlohmann::json gpu_schema() {
  return text_schema("a model of GPU that the judge need not have, such as H100: for the rules, or "
                     "for compile_only");
}

nlohmann::json parameters_schema() {
  return list_schema("values of parameters of the launch plan (default: the plan's first choice)",
                     text_schema("NAME=VALUE"), kMostKernels);
}

nlohmann::json kernel_schema() {
  nlohmann::json schema = object_schema(
      {{"text", text_schema("the whole kernel file: launch plan and device code")},
       {"name", text_schema("with text: a file name for it, which the answer uses (tiled_128.cu)")},
       {"file", text_schema("instead of text: the path of a kernel file, or @ID of a candidate")}});
  schema["description"] = "a kernel: either its text or a file";
  return schema;
}

} // namespace winnow::harness
