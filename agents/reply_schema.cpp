#include "agents/reply_schema.h"

#include "agents/json_text.h"
#include "base/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace winnow::agents {
namespace {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

void read_schema(const ReplySchema& text, valijson::Schema& schema) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text.schema);
    valijson::SchemaParser().populateSchema(Adapter(json), schema);
  } catch (const std::exception& failure) {
    throw Error(
        fmt::format("the reply schema '{}' is not a JSON Schema: {}", text.name, failure.what()));
  }
}

std::string first_violation(valijson::ValidationResults& results) {
  valijson::ValidationResults::Error error;
  if (!results.popError(error)) {
    return "the reply does not match";
  }
  std::string where;
  for (const std::string& part : error.context) {
    where += part;
  }
  return fmt::format("{}: {}", where, error.description);
}

} // namespace

std::string schema_violation(const ReplySchema& schema, const std::string& reply) {
  valijson::Schema parsed;
  read_schema(schema, parsed);
  nlohmann::json json;
  try {
    json = parse_untrusted_json(reply);
  } catch (const Error& failure) {
    return failure.what();
  }
  valijson::ValidationResults results;
  valijson::Validator validator;
  return validator.validate(parsed, Adapter(json), &results) ? std::string()
                                                             : first_violation(results);
}

} // namespace winnow::agents
