#include "agents/reply/reply_schema.h"

#include "agents/json/json_text.h"
#include "agents/reply/read_reply.h"
#include "base/error.h"

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/schema.h>
#include <rapidjson/writer.h>

namespace winnow::agents {
namespace {

std::string text_of(const rapidjson::Pointer& pointer) {
  rapidjson::StringBuffer text;
  pointer.Stringify(text);
  return text.GetString();
}

rapidjson::Document read_schema(const ReplySchema& text) {
  rapidjson::Document schema;
  schema.Parse(text.schema.data(), text.schema.size());
  if (schema.HasParseError() || !schema.IsObject()) {
    throw Error(fmt::format("the reply schema '{}' is not a JSON Schema: {}", text.name,
                            schema.HasParseError()
                                ? rapidjson::GetParseError_En(schema.GetParseError())
                                : "it is not an object"));
  }
  return schema;
}

/// The part of the schema that the reply violates, such as `"required": ["reasoning"]`.
std::string violated_rule(const rapidjson::SchemaValidator& validator,
                          const rapidjson::Document& schema) {
  const char* keyword = validator.GetInvalidSchemaKeyword();
  const rapidjson::Value* part = validator.GetInvalidSchemaPointer().Get(schema);
  rapidjson::StringBuffer value;
  if (part != nullptr && part->IsObject() && part->HasMember(keyword)) {
    rapidjson::Writer<rapidjson::StringBuffer> writer(value);
    (*part)[keyword].Accept(writer);
  }
  return fmt::format("\"{}\": {}", keyword, value.GetString());
}

} // namespace

std::string schema_violation(const ReplySchema& schema, const std::string& reply) {
  const rapidjson::Document rules = read_schema(schema);
  rapidjson::Document json;
  try {
    const std::vector<nlohmann::json> objects = json_objects(read_reply(reply, ""));
    const std::string checked =
        (objects.empty() ? parse_untrusted_json(reply) : objects.back()).dump();
    json.Parse(checked.data(), checked.size());
  } catch (const Error& failure) {
    return failure.what();
  }
  const rapidjson::SchemaDocument compiled(rules);
  rapidjson::SchemaValidator validator(compiled);
  if (json.Accept(validator)) {
    return "";
  }
  const std::string where = text_of(validator.GetInvalidDocumentPointer());
  return fmt::format("{} violates {}", where.empty() ? "the outermost value" : where,
                     violated_rule(validator, rules));
}

} // namespace winnow::agents
