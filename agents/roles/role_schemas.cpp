#include "agents/roles/role_reply.h"
#include "base/error.h"

#include <map>

namespace winnow::agents {
namespace {

// "strict": all properties are required, and there are no others.
const std::map<std::string, std::string, std::less<>> kSchemas{
    {"judge", R"({"type": "object", "additionalProperties": false,
  "required": ["bottleneck", "evidence", "change", "effects"],
  "properties": {
    "bottleneck": {"type": "string"},
    "evidence": {"type": "array", "items": {"type": "string"}},
    "change": {"type": "string"},
    "effects": {"type": "array", "items": {"type": "object", "additionalProperties": false,
      "required": ["metric", "direction", "percent"],
      "properties": {"metric": {"type": "string"},
                     "direction": {"type": "string", "enum": ["up", "down"]},
                     "percent": {"type": "number"}}}}}})"},
    {"verify", R"({"type": "object", "additionalProperties": false,
  "required": ["verdict", "findings"],
  "properties": {
    "verdict": {"type": "string", "enum": ["accept", "reject"]},
    "findings": {"type": "array", "items": {"type": "object", "additionalProperties": false,
      "required": ["line", "reason", "text"],
      "properties": {"line": {"type": "integer"},
                     "reason": {"type": "string",
                                "enum": ["compile", "plan", "memory", "race", "numerics"]},
                     "text": {"type": "string"}}}}}})"},
    {"forecast", R"({"type": "object", "additionalProperties": false,
  "required": ["chances", "reason"],
  "properties": {
    "chances": {"type": "array", "items": {"type": "number"}},
    "reason": {"type": "string"}}})"},
    {"meta", R"({"type": "object", "additionalProperties": false, "required": ["words"],
  "properties": {"words": {"type": "string"}}})"}};

} // namespace

ReplySchema role_reply_schema(std::string_view op) {
  const auto found = kSchemas.find(op);
  if (found == kSchemas.end()) {
    throw Error("no role has the operator '" + std::string(op) + "'");
  }
  return {found->first + "_reply", found->second};
}

} // namespace winnow::agents
