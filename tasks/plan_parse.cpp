#include "tasks/plan_parse.h"

#include "base/text.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Kind = JsonValue::Kind;

constexpr std::size_t kMaxErrors = 20;
constexpr std::size_t kMaxParameterValues = 64;

// Keys that the format has but this version does not.
const std::vector<std::string> kNotYet{"prepare",      "tensor_maps", "tensor_map", "cluster",
                                       "programmatic", "const",       "keep"};

std::string quote(std::string_view text) {
  return "'" + truncate_text(text, 200) + "'";
}

class PlanParser {
public:
  PlanParser(std::string_view file_text, const std::string& file_name,
             std::vector<Diagnostic>& errors)
      : file_text_(file_text), file_name_(file_name), errors_(errors) {}

  Plan parse(const JsonValue& json) {
    Plan plan;
    if (!is(json, Kind::Object, "the plan")) {
      return plan;
    }
    check_keys(json, "the plan", {"params", "where", "let", "scratch", "launches", "compile"});
    plan.parameters = parameters(json);
    plan.let = let(json);
    plan.scratch = scratch(json);
    plan.where = where(json, plan);
    plan.fast_math = fast_math(json, plan);
    const JsonValue* launches_json = json.find("launches");
    if (launches_json == nullptr) {
      fail(json.at, "the plan has no \"launches\"",
           "\"launches\": [{\"kernel\": ..., \"grid\": [...], \"block\": [...], \"args\": [...]}]");
    } else {
      plan.launches = launches(*launches_json, "launches");
    }
    return plan;
  }

private:
  void fail(SourcePosition at, const std::string& what, const std::string& expected = {}) {
    if (errors_.size() < kMaxErrors) {
      errors_.push_back({file_name_, at, what, expected});
    }
  }

  bool is(const JsonValue& json, Kind kind, const std::string& what) {
    if (json.kind == kind) {
      return true;
    }
    fail(json.at, fmt::format("{} is {}", what, to_string(json.kind)),
         std::string(to_string(kind)));
    return false;
  }

  void check_keys(const JsonValue& json, const std::string& where,
                  const std::vector<std::string>& known) {
    for (const JsonMember& member : json.members) {
      if (std::find(known.begin(), known.end(), member.key) != known.end()) {
        continue;
      }
      if (std::find(kNotYet.begin(), kNotYet.end(), member.key) != kNotYet.end()) {
        fail(member.at, fmt::format("\"{}\" is not supported yet", member.key));
      } else {
        fail(member.at, fmt::format("unknown key {} in {}{}", quote(member.key), where,
                                    suggestion(member.key, known)));
      }
    }
  }

  // Every name of a plan is declared once.
  void declare(const std::string& name, SourcePosition at, const std::string& kind) {
    if (!is_identifier(name)) {
      fail(at, fmt::format("{} is no name for a {}", quote(name), kind),
           "letters, digits and '_', not starting with a digit");
    } else if (!names_.insert(name).second) {
      fail(at, fmt::format("the name '{}' is declared twice", name),
           "different names for params, let and scratch");
    }
  }

  PlanExpression expression(const JsonValue& json, const std::string& what, bool real = false) {
    PlanExpression result;
    result.at = json.at;
    switch (json.kind) {
    case Kind::Integer:
      result.expression = Expression::constant(json.integer);
      return result;
    case Kind::Boolean:
      result.expression = Expression::constant(json.boolean ? 1 : 0);
      return result;
    case Kind::String:
      result.expression = parsed(json, json.text);
      return result;
    case Kind::Real:
      if (real) {
        result.expression = parsed(json, json.text);
        return result;
      }
      break;
    default:
      break;
    }
    if (json.kind == Kind::Object && json.find("const") != nullptr) {
      fail(json.at, "device constants ({\"const\": ...}) are not supported yet",
           "an expression over axes, scalars, params and let");
    } else {
      fail(json.at, fmt::format("{} is {}", what, to_string(json.kind)),
           real ? "a number or an expression" : "an integer or an expression");
    }
    result.expression = Expression::constant(1);
    return result;
  }

  Expression parsed(const JsonValue& json, const std::string& text) {
    try {
      Expression expression = Expression::parse(text);
      if (const int column = expression.column_of("resident_blocks"); column > 0) {
        fail(position_in_string(file_text_, json.at, column),
             "resident_blocks is not supported yet",
             "for instance sm_count * BLOCKS_PER_SM with BLOCKS_PER_SM a parameter");
      }
      return expression;
    } catch (const ExpressionError& error) {
      fail(position_in_string(file_text_, json.at, error.column()),
           fmt::format("{} in expression {}", error.what(), quote(text)), error.expected());
      return Expression::constant(1);
    }
  }

  PlanExpression optional_expression(const JsonValue& json, std::string_view key) {
    const JsonValue* found = json.find(key);
    return found == nullptr ? PlanExpression{} : expression(*found, fmt::format("\"{}\"", key));
  }

  const JsonValue* required(const JsonValue& json, std::string_view key, const std::string& where) {
    const JsonValue* found = json.find(key);
    if (found == nullptr) {
      fail(json.at, fmt::format("{} has no \"{}\"", where, key), fmt::format("\"{}\": ...", key));
    }
    return found;
  }

  std::vector<Parameter> parameters(const JsonValue& plan) {
    std::vector<Parameter> result;
    const JsonValue* json = plan.find("params");
    if (json == nullptr || !is(*json, Kind::Object, "\"params\"")) {
      return result;
    }
    for (const JsonMember& member : json->members) {
      declare(member.key, member.at, "parameter");
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
        fail(item.at,
             fmt::format("a value of parameter '{}' is {}", member.key, to_string(item.kind)),
             "integers or booleans, such as [64, 128]");
        continue;
      }
      const std::int64_t value = item.kind == Kind::Boolean ? (item.boolean ? 1 : 0) : item.integer;
      if (std::find(result.values.begin(), result.values.end(), value) != result.values.end()) {
        fail(item.at, fmt::format("parameter '{}' lists {} twice", member.key, value),
             "each value once");
        continue;
      }
      result.values.push_back(value);
    }
    if (!single && member.value.items.empty()) {
      fail(member.value.at, fmt::format("parameter '{}' has no values", member.key),
           "at least one, such as [64, 128]");
    }
    if (result.values.size() > kMaxParameterValues) {
      fail(member.value.at,
           fmt::format("parameter '{}' has {} values", member.key, result.values.size()),
           fmt::format("at most {}", kMaxParameterValues));
    }
    return result;
  }

  std::vector<LetBinding> let(const JsonValue& owner) {
    std::vector<LetBinding> result;
    const JsonValue* json = owner.find("let");
    if (json == nullptr || !is(*json, Kind::Object, "\"let\"")) {
      return result;
    }
    for (const JsonMember& member : json->members) {
      declare(member.key, member.at, "let binding");
      result.push_back({member.key,
                        expression(member.value, fmt::format("let '{}'", member.key)),
                        {},
                        member.at});
    }
    return result;
  }

  std::vector<ScratchBuffer> scratch(const JsonValue& plan) {
    std::vector<ScratchBuffer> result;
    const JsonValue* json = plan.find("scratch");
    if (json == nullptr || !is(*json, Kind::Object, "\"scratch\"")) {
      return result;
    }
    for (const JsonMember& member : json->members) {
      declare(member.key, member.at, "scratch buffer");
      const std::string where = fmt::format("scratch '{}'", member.key);
      if (is(member.value, Kind::Object, where)) {
        result.push_back(scratch_buffer(member, where));
      }
    }
    return result;
  }

  ScratchBuffer scratch_buffer(const JsonMember& member, const std::string& where) {
    ScratchBuffer buffer;
    buffer.name = member.key;
    buffer.at = member.at;
    check_keys(member.value, where, {"dtype", "count", "once"});
    if (const JsonValue* count = required(member.value, "count", where)) {
      buffer.count = expression(*count, "\"count\"");
    }
    const JsonValue* dtype = required(member.value, "dtype", where);
    if (dtype != nullptr && is(*dtype, Kind::String, "\"dtype\"")) {
      const auto known = dtype_from_string(dtype->text);
      std::vector<std::string> names;
      for (const DType type : all_dtypes()) {
        names.emplace_back(to_string(type));
      }
      if (!known) {
        fail(dtype->at, fmt::format("unknown dtype {}", quote(dtype->text)),
             "one of " + join(names, ", "));
      }
      buffer.dtype = known.value_or(DType::F32);
    }
    if (const JsonValue* once = member.value.find("once")) {
      buffer.once = fill_value(*once);
    }
    return buffer;
  }

  double fill_value(const JsonValue& json) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (json.kind) {
    case Kind::Integer:
    case Kind::Real:
      return json.real;
    case Kind::Boolean:
      return json.boolean ? 1 : 0;
    case Kind::String:
      if (json.text == "inf") {
        return kInfinity;
      }
      if (json.text == "-inf") {
        return -kInfinity;
      }
      if (json.text == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
      }
      break;
    default:
      break;
    }
    fail(json.at, "the fill value is no constant", "a number, \"inf\", \"-inf\" or \"nan\"");
    return 0;
  }

  // Checked now, because only parameters may appear.
  void over_parameters(const PlanExpression& value, const Plan& plan, const std::string& where) {
    std::vector<std::string> known;
    for (const Parameter& parameter : plan.parameters) {
      known.push_back(parameter.name);
    }
    for (const std::string& name : value.expression.names()) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        const int column = value.expression.column_of(name);
        fail(position_in_string(file_text_, value.at, column),
             fmt::format("unknown name '{}' in {}{}", name, where, suggestion(name, known)),
             "names of params only");
      }
    }
  }

  std::vector<PlanExpression> where(const JsonValue& json, const Plan& plan) {
    std::vector<PlanExpression> result;
    const JsonValue* list = json.find("where");
    if (list == nullptr || !is(*list, Kind::Array, "\"where\"")) {
      return result;
    }
    for (const JsonValue& item : list->items) {
      result.push_back(expression(item, "a condition of \"where\""));
      over_parameters(result.back(), plan, "\"where\"");
    }
    return result;
  }

  PlanExpression fast_math(const JsonValue& json, const Plan& plan) {
    const JsonValue* compile = json.find("compile");
    if (compile == nullptr || !is(*compile, Kind::Object, "\"compile\"")) {
      return {};
    }
    check_keys(*compile, "\"compile\"", {"fast_math"});
    PlanExpression result = optional_expression(*compile, "fast_math");
    over_parameters(result, plan, "\"fast_math\"");
    return result;
  }

  std::vector<Launch> launches(const JsonValue& json, const std::string& key) {
    std::vector<Launch> result;
    if (!is(json, Kind::Array, "\"" + key + "\"")) {
      return result;
    }
    if (json.items.empty()) {
      fail(json.at, "\"" + key + "\" is empty", "at least one kernel, fill, copy or repeat");
    }
    for (const JsonValue& item : json.items) {
      if (is(item, Kind::Object, "an item of \"" + key + "\"")) {
        result.push_back(launch(item));
      }
    }
    return result;
  }

  Launch launch(const JsonValue& json) {
    static const std::vector<std::string> kinds{"kernel", "fill", "copy", "repeat"};
    Launch result;
    result.at = json.at;
    std::vector<std::string> present;
    for (const std::string& kind : kinds) {
      if (json.find(kind) != nullptr) {
        present.push_back(kind);
      }
    }
    if (present.size() != 1) {
      fail(json.at,
           present.empty() ? "a launch without a kind"
                           : "a launch that is " + join(present, " and "),
           "exactly one of the keys \"kernel\", \"fill\", \"copy\", \"repeat\"");
      return result;
    }
    result.when = optional_expression(json, "when");
    if (present[0] == "kernel") {
      result.what = kernel(json);
    } else if (present[0] == "fill") {
      result.what = fill(json);
    } else if (present[0] == "copy") {
      result.what = copy(json);
    } else {
      result.what = repeat(json);
    }
    return result;
  }

  KernelLaunch kernel(const JsonValue& json) {
    check_keys(json, "a kernel launch",
               {"kernel", "grid", "block", "shared_bytes", "args", "cooperative", "when"});
    KernelLaunch result;
    const JsonValue& name = *json.find("kernel");
    if (is(name, Kind::String, "\"kernel\"")) {
      result.kernel = trim(name.text);
      if (result.kernel.empty()) {
        fail(name.at, "the kernel's name is empty", "the name of a __global__ function");
      }
    }
    const std::string where = fmt::format("the launch of {}", quote(result.kernel));
    if (const JsonValue* grid = required(json, "grid", where)) {
      result.grid = extents(*grid, "grid");
    }
    if (const JsonValue* block = required(json, "block", where)) {
      result.block = extents(*block, "block");
    }
    result.shared_bytes = optional_expression(json, "shared_bytes");
    const JsonValue* args = required(json, "args", where);
    if (args != nullptr && is(*args, Kind::Array, "\"args\"")) {
      for (const JsonValue& item : args->items) {
        result.arguments.push_back(argument(item));
      }
    }
    const JsonValue* cooperative = json.find("cooperative");
    result.cooperative = cooperative != nullptr &&
                         is(*cooperative, Kind::Boolean, "\"cooperative\"") && cooperative->boolean;
    return result;
  }

  std::vector<PlanExpression> extents(const JsonValue& json, const std::string& key) {
    std::vector<PlanExpression> result;
    if (json.kind != Kind::Array) {
      result.push_back(expression(json, "\"" + key + "\""));
      return result;
    }
    if (json.items.empty() || json.items.size() > 3) {
      fail(json.at, fmt::format("\"{}\" has {} dimensions", key, json.items.size()),
           "1 to 3, x first");
    }
    for (const JsonValue& item : json.items) {
      result.push_back(expression(item, fmt::format("{}[{}]", key, result.size())));
    }
    return result;
  }

  Argument argument(const JsonValue& json) {
    switch (json.kind) {
    case Kind::Null:
      return NullArgument{json.at};
    case Kind::Real:
      return FloatArgument{expression(json, "an argument", true)};
    case Kind::Object:
      break;
    case Kind::Array:
      fail(json.at, "an argument is a list", "{\"pick\": [...], \"by\": ...} to choose a buffer");
      return NullArgument{json.at};
    default:
      return IntegerArgument{expression(json, "an argument")};
    }
    if (const JsonValue* value = json.find("float")) {
      check_keys(json, "a float argument", {"float"});
      return FloatArgument{expression(*value, "\"float\"", true)};
    }
    if (json.find("pick") != nullptr || json.find("tensor") != nullptr) {
      return buffer(json, "an argument");
    }
    check_keys(json, "an argument", {"float", "pick", "by", "tensor", "at"});
    if (json.members.empty() || json.find("at") != nullptr || json.find("by") != nullptr) {
      fail(json.at, "an argument that says no value",
           "{\"float\": ...}, {\"pick\": [...], \"by\": ...} or {\"tensor\": ..., \"at\": ...}");
    }
    return NullArgument{json.at};
  }

  BufferReference buffer(const JsonValue& json, const std::string& where) {
    BufferReference result;
    result.at = json.at;
    if (json.kind == Kind::String) {
      result.pick.push_back(buffer_name(json));
      return result;
    }
    if (!is(json, Kind::Object, where)) {
      return result;
    }
    const JsonValue* pick = json.find("pick");
    if (pick == nullptr) {
      check_keys(json, where, {"tensor", "at"});
      if (const JsonValue* tensor = required(json, "tensor", where)) {
        result.pick.push_back(buffer_name(*tensor));
      }
    } else {
      check_keys(json, where, {"pick", "by", "at"});
      add_pick(*pick, result);
      if (const JsonValue* by = required(json, "by", "a \"pick\"")) {
        result.by = expression(*by, "\"by\"");
      }
    }
    result.offset = optional_expression(json, "at");
    return result;
  }

  void add_pick(const JsonValue& pick, BufferReference& result) {
    if (!is(pick, Kind::Array, "\"pick\"")) {
      return;
    }
    if (pick.items.empty()) {
      fail(pick.at, "\"pick\" is empty", "at least one tensor, scratch buffer or null");
    }
    for (const JsonValue& item : pick.items) {
      if (item.kind == Kind::Null) {
        result.pick.emplace_back(std::nullopt);
      } else {
        result.pick.emplace_back(buffer_name(item));
      }
    }
  }

  std::string buffer_name(const JsonValue& json) {
    if (!is(json, Kind::String, "the name of a buffer")) {
      return "?";
    }
    if (!is_identifier(json.text)) {
      fail(json.at, fmt::format("{} is no buffer", quote(json.text)),
           "the name of a tensor or scratch buffer ({\"tensor\": ..., \"at\": ...} for a part)");
    }
    return json.text;
  }

  Fill fill(const JsonValue& json) {
    check_keys(json, "a fill", {"fill", "value", "at", "count", "when"});
    Fill result;
    result.buffer = buffer(*json.find("fill"), "\"fill\"");
    if (const JsonValue* at = json.find("at")) {
      if (!result.buffer.offset.expression.empty()) {
        fail(at->at, "the fill has \"at\" twice", "it once");
      }
      result.buffer.offset = expression(*at, "\"at\"");
    }
    if (const JsonValue* value = required(json, "value", "the fill")) {
      result.value = fill_value(*value);
    }
    result.count = optional_expression(json, "count");
    return result;
  }

  Copy copy(const JsonValue& json) {
    check_keys(json, "a copy", {"copy", "to", "count", "rows", "from_stride", "to_stride", "when"});
    Copy result;
    result.from = buffer(*json.find("copy"), "\"copy\"");
    if (const JsonValue* to = required(json, "to", "the copy")) {
      result.to = buffer(*to, "\"to\"");
    }
    result.count = optional_expression(json, "count");
    result.rows = optional_expression(json, "rows");
    result.from_stride = optional_expression(json, "from_stride");
    result.to_stride = optional_expression(json, "to_stride");
    const bool pitched = !result.rows.expression.empty();
    const bool strided =
        !result.from_stride.expression.empty() || !result.to_stride.expression.empty();
    if (pitched && result.count.expression.empty()) {
      fail(json.at, "a copy of rows has no \"count\"", "the elements of one row");
    }
    if (strided && !pitched) {
      fail(json.at, "a copy with strides has no \"rows\"", "the number of rows");
    }
    return result;
  }

  Repeat repeat(const JsonValue& json) {
    check_keys(json, "a repeat", {"repeat", "as", "let", "do", "when"});
    Repeat result;
    result.times = expression(*json.find("repeat"), "\"repeat\"");
    const std::set<std::string> outer = names_; // names of a repeat end with it
    const JsonValue* as = json.find("as");
    if (as != nullptr && is(*as, Kind::String, "\"as\"")) {
      declare(as->text, as->at, "loop variable");
      result.as = as->text;
    }
    result.let = let(json);
    if (const JsonValue* body = required(json, "do", "the repeat")) {
      result.body = launches(*body, "do");
    }
    names_ = outer;
    return result;
  }

  std::string_view file_text_;
  const std::string& file_name_;
  std::vector<Diagnostic>& errors_;
  std::set<std::string> names_;
};

} // namespace

Plan parse_plan(const JsonValue& json, std::string_view file_text, const std::string& file_name,
                std::vector<Diagnostic>& errors) {
  return PlanParser(file_text, file_name, errors).parse(json);
}

} // namespace winnow::tasks
