#include "tasks/plan/plan_reader.h"

#include "base/text.h"

#include <limits>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Kind = JsonValue::Kind;

// Keys of the format that this version does not support.
const std::vector<std::string> kNotYet{"programmatic"};

} // namespace

std::string quote(std::string_view text) {
  return "'" + truncate_text(text, 200) + "'";
}

void PlanReader::fail(SourcePosition at, const std::string& what, const std::string& expected) {
  if (errors_.size() < kMaxPlanErrors) {
    errors_.push_back({file_name_, at, what, expected});
  }
}

void PlanReader::fail_inside(SourcePosition string_at, int column, const std::string& what,
                             const std::string& expected) {
  fail(position_in_string(file_text_, string_at, column), what, expected);
}

bool PlanReader::is(const JsonValue& json, Kind kind, const std::string& what) {
  if (json.kind == kind) {
    return true;
  }
  fail(json.at, fmt::format("{} is {}", what, to_string(json.kind)), std::string(to_string(kind)));
  return false;
}

void PlanReader::check_keys(const JsonValue& json, const std::string& where,
                            const std::vector<std::string>& known) {
  for (const JsonMember& member : json.members) {
    if (contains(known, member.key)) {
      continue;
    }
    if (contains(kNotYet, member.key)) {
      fail(member.at, fmt::format("\"{}\" is not supported yet", member.key));
    } else {
      fail(member.at, fmt::format("unknown key {} in {}{}", quote(member.key), where,
                                  suggestion(member.key, known)));
    }
  }
}

const std::vector<JsonMember>& PlanReader::members(const JsonValue& owner, std::string_view key) {
  static const std::vector<JsonMember> none;
  const JsonValue* json = owner.find(key);
  const bool has_members = json != nullptr && is(*json, Kind::Object, fmt::format("\"{}\"", key));
  return has_members ? json->members : none;
}

const JsonValue* PlanReader::required(const JsonValue& json, std::string_view key,
                                      const std::string& where) {
  const JsonValue* found = json.find(key);
  if (found == nullptr) {
    fail(json.at, fmt::format("{} has no \"{}\"", where, key), fmt::format("\"{}\": ...", key));
  }
  return found;
}

void PlanReader::declare(const std::string& name, SourcePosition at, const std::string& kind) {
  if (!is_identifier(name)) {
    fail(at, fmt::format("{} is not a name for a {}", quote(name), kind),
         "letters, digits and '_', not starting with a digit");
  } else if (name == kResidentBlocks) {
    fail(at, fmt::format("the name '{}' is reserved", name), "another name");
  } else if (!names_.insert(name).second) {
    fail(at, fmt::format("the name '{}' is declared twice", name),
         "different names for params, let, scratch and tensor_maps");
  }
}

PlanExpression PlanReader::expression(const JsonValue& json, const std::string& what,
                                      Allowed allowed) {
  PlanExpression result{{}, json.at};
  if (json.kind == Kind::Integer) {
    result.expression = Expression::constant(json.integer);
  } else if (json.kind == Kind::Boolean) {
    result.expression = Expression::constant(json.boolean ? 1 : 0);
  } else if (json.kind == Kind::String || (json.kind == Kind::Real && allowed.real)) {
    result.expression = parsed(json, allowed);
  } else {
    const bool constant = json.kind == Kind::Object && json.find("const") != nullptr;
    fail(json.at,
         fmt::format("{} is {}", what, constant ? "a device constant" : to_string(json.kind)),
         constant       ? "a let binding: {\"const\": ...} is allowed only in \"let\""
         : allowed.real ? "a number or an expression"
                        : "an integer or an expression");
    result.expression = Expression::constant(1);
  }
  return result;
}

Expression PlanReader::parsed(const JsonValue& json, Allowed allowed) {
  try {
    Expression expression = Expression::parse(json.text);
    const int column = expression.column_of(kResidentBlocks);
    if (column > 0 && !allowed.resident_blocks) {
      fail_inside(json.at, column, "resident_blocks outside of a grid",
                  "resident_blocks in the \"grid\" of a kernel launch only: it depends on the "
                  "kernel, its block and its shared memory");
    }
    return expression;
  } catch (const ExpressionError& error) {
    fail_inside(json.at, error.column(),
                fmt::format("{} in expression {}", error.what(), quote(json.text)),
                error.expected());
    return Expression::constant(1);
  }
}

PlanExpression PlanReader::optional_expression(const JsonValue& json, std::string_view key) {
  const JsonValue* found = json.find(key);
  return found == nullptr ? PlanExpression{} : expression(*found, fmt::format("\"{}\"", key));
}

std::vector<PlanExpression> PlanReader::extents(const JsonValue& json, const std::string& key,
                                                std::size_t most, Allowed allowed) {
  std::vector<PlanExpression> result;
  if (json.kind != Kind::Array) {
    result.push_back(expression(json, "\"" + key + "\"", allowed));
    return result;
  }
  if (json.items.empty() || json.items.size() > most) {
    fail(json.at, fmt::format("\"{}\" has {} dimensions", key, json.items.size()),
         fmt::format("1 to {}, {}", most, most == 3 ? "x first" : "the innermost first"));
  }
  for (const JsonValue& item : json.items) {
    result.push_back(expression(item, fmt::format("{}[{}]", key, result.size()), allowed));
  }
  return result;
}

bool PlanReader::boolean_or_false(const JsonValue& json, std::string_view key) {
  const JsonValue* found = json.find(key);
  return found != nullptr && is(*found, Kind::Boolean, fmt::format("\"{}\"", key)) &&
         found->boolean;
}

DType PlanReader::dtype(const JsonValue& json) {
  if (!is(json, Kind::String, "\"dtype\"")) {
    return DType::F32;
  }
  const auto known = dtype_from_string(json.text);
  if (!known) {
    std::vector<std::string> names;
    for (const DType type : all_dtypes()) {
      names.emplace_back(to_string(type));
    }
    fail(json.at, fmt::format("unknown dtype {}", quote(json.text)), "one of " + join(names, ", "));
  }
  return known.value_or(DType::F32);
}

double PlanReader::fill_value(const JsonValue& json) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.kind == Kind::Integer || json.kind == Kind::Real) {
    return json.real;
  }
  if (json.kind == Kind::Boolean) {
    return json.boolean ? 1 : 0;
  }
  if (json.kind == Kind::String && (json.text == "inf" || json.text == "-inf")) {
    return json.text == "inf" ? kInfinity : -kInfinity;
  }
  if (json.kind == Kind::String && json.text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  fail(json.at, "the fill value is not a constant", "a number, \"inf\", \"-inf\" or \"nan\"");
  return 0;
}

std::string PlanReader::buffer_name(const JsonValue& json) {
  if (!is(json, Kind::String, "the name of a buffer")) {
    return "?";
  }
  if (!is_identifier(json.text)) {
    fail(json.at, fmt::format("{} is not the name of a buffer", quote(json.text)),
         "the name of a tensor or scratch buffer ({\"tensor\": ..., \"at\": ...} for a part)");
  }
  return json.text;
}

void PlanReader::read_buffer(const JsonValue& json, const std::string& where, bool may_be_null,
                             BufferReference& buffer) {
  buffer.offset = optional_expression(json, "at");
  const JsonValue* pick = json.find("pick");
  if (pick == nullptr) {
    if (const JsonValue* tensor = required(json, "tensor", where)) {
      buffer.pick.push_back(buffer_name(*tensor));
    }
    return;
  }
  if (is(*pick, Kind::Array, "\"pick\"") && pick->items.empty()) {
    fail(pick->at, "\"pick\" is empty", "at least one tensor or scratch buffer");
  }
  for (const JsonValue& item : pick->items) {
    const bool is_null = may_be_null && item.kind == Kind::Null;
    buffer.pick.push_back(is_null ? std::nullopt : std::optional(buffer_name(item)));
  }
  if (const JsonValue* by = required(json, "by", "a \"pick\"")) {
    buffer.by = expression(*by, "\"by\"");
  }
}

} // namespace winnow::tasks
