#include "tasks/plan/plan_parse.h"

#include "base/text.h"

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Kind = JsonValue::Kind;

constexpr std::size_t kMaxParameterValues = 64;

class PlanParser {
public:
  explicit PlanParser(PlanReader& reader) : reader_(reader) {}

  Plan parse(const JsonValue& json) {
    Plan plan;
    if (!reader_.is(json, Kind::Object, "the plan")) {
      return plan;
    }
    reader_.check_keys(
        json, "the plan",
        {"params", "where", "let", "scratch", "tensor_maps", "prepare", "launches", "compile"});
    plan.parameters = parameters(json);
    plan.let = parse_let(reader_, json);
    plan.scratch = scratch(json);
    plan.tensor_maps = parse_tensor_maps(reader_, json);
    plan.where = where(json, plan);
    plan.fast_math = fast_math(json, plan);
    parse_all_launches(json, plan);
    return plan;
  }

private:
  void parse_all_launches(const JsonValue& json, Plan& plan) {
    if (const JsonValue* prepare = json.find("prepare")) {
      plan.prepare = parse_launches(reader_, *prepare, "prepare");
    }
    const JsonValue* launches = json.find("launches");
    if (launches == nullptr) {
      reader_.fail(
          json.at, "the plan has no \"launches\"",
          "\"launches\": [{\"kernel\": ..., \"grid\": [...], \"block\": [...], \"args\": [...]}]");
    } else {
      plan.launches = parse_launches(reader_, *launches, "launches");
    }
  }

  std::vector<Parameter> parameters(const JsonValue& plan) {
    std::vector<Parameter> result;
    for (const JsonMember& member : reader_.members(plan, "params")) {
      reader_.declare(member.key, member.at, "parameter");
      result.push_back(parameter(member));
    }
    return result;
  }

  Parameter parameter(const JsonMember& member) {
    Parameter result{member.key, {}, member.at};
    const bool single = member.value.kind != Kind::Array;
    const std::vector<JsonValue> alone =
        single ? std::vector{member.value} : std::vector<JsonValue>{};
    for (const JsonValue& item : single ? alone : member.value.items) {
      if (item.kind != Kind::Integer && item.kind != Kind::Boolean) {
        reader_.fail(
            item.at,
            fmt::format("a value of parameter '{}' is {}", member.key, to_string(item.kind)),
            "integers or booleans, such as [64, 128]");
        continue;
      }
      const std::int64_t value = item.kind == Kind::Boolean ? (item.boolean ? 1 : 0) : item.integer;
      if (contains(result.values, value)) {
        reader_.fail(item.at, fmt::format("parameter '{}' lists {} twice", member.key, value),
                     "each value once");
        continue;
      }
      result.values.push_back(value);
    }
    if (!single && member.value.items.empty()) {
      reader_.fail(member.value.at, fmt::format("parameter '{}' has no values", member.key),
                   "at least one, such as [64, 128]");
    }
    if (result.values.size() > kMaxParameterValues) {
      reader_.fail(member.value.at,
                   fmt::format("parameter '{}' has {} values", member.key, result.values.size()),
                   fmt::format("at most {}", kMaxParameterValues));
    }
    return result;
  }

  std::vector<ScratchBuffer> scratch(const JsonValue& plan) {
    std::vector<ScratchBuffer> result;
    for (const JsonMember& member : reader_.members(plan, "scratch")) {
      reader_.declare(member.key, member.at, "scratch buffer");
      const std::string where = fmt::format("scratch '{}'", member.key);
      if (reader_.is(member.value, Kind::Object, where)) {
        result.push_back(scratch_buffer(member, where));
      }
    }
    return result;
  }

  ScratchBuffer scratch_buffer(const JsonMember& member, const std::string& where) {
    ScratchBuffer buffer;
    buffer.name = member.key;
    buffer.at = member.at;
    reader_.check_keys(member.value, where, {"dtype", "count", "once", "keep"});
    if (const JsonValue* count = reader_.required(member.value, "count", where)) {
      buffer.count = reader_.expression(*count, "\"count\"");
    }
    if (const JsonValue* dtype = reader_.required(member.value, "dtype", where)) {
      buffer.dtype = reader_.dtype(*dtype);
    }
    if (const JsonValue* once = member.value.find("once")) {
      buffer.once = reader_.fill_value(*once);
    }
    buffer.keep = reader_.boolean_or_false(member.value, "keep");
    if (buffer.keep && buffer.once) {
      reader_.fail(member.at, where + " has both \"once\" and \"keep\"",
                   "one of them: launches may not write a kept buffer");
    }
    return buffer;
  }

  // Checks early that the expression uses only parameters.
  void over_parameters(const PlanExpression& value, const Plan& plan, const std::string& where) {
    auto known = each<std::string>(plan.parameters, &Parameter::name);
    for (const std::string& name : value.expression.names()) {
      if (!contains(known, name)) {
        reader_.fail_inside(
            value.at, value.expression.column_of(name),
            fmt::format("unknown name '{}' in {}{}", name, where, suggestion(name, known)),
            "names of params only");
      }
    }
  }

  std::vector<PlanExpression> where(const JsonValue& json, const Plan& plan) {
    std::vector<PlanExpression> result;
    const JsonValue* list = json.find("where");
    if (list == nullptr || !reader_.is(*list, Kind::Array, "\"where\"")) {
      return result;
    }
    for (const JsonValue& item : list->items) {
      result.push_back(reader_.expression(item, "a condition of \"where\""));
      over_parameters(result.back(), plan, "\"where\"");
    }
    return result;
  }

  PlanExpression fast_math(const JsonValue& json, const Plan& plan) {
    const JsonValue* compile = json.find("compile");
    if (compile == nullptr || !reader_.is(*compile, Kind::Object, "\"compile\"")) {
      return {};
    }
    reader_.check_keys(*compile, "\"compile\"", {"fast_math"});
    PlanExpression result = reader_.optional_expression(*compile, "fast_math");
    over_parameters(result, plan, "\"fast_math\"");
    return result;
  }

  PlanReader& reader_;
};

} // namespace

Plan parse_plan(const JsonValue& json, std::string_view file_text, const std::string& file_name,
                std::vector<Diagnostic>& errors) {
  PlanReader reader(file_text, file_name, errors);
  return PlanParser(reader).parse(json);
}

} // namespace winnow::tasks
