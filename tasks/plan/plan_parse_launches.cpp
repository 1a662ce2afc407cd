#include "base/text.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/plan_parse.h"

#include <optional>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Kind = JsonValue::Kind;

constexpr std::size_t kMaxDimensions = 3;

class LaunchParser {
public:
  explicit LaunchParser(PlanReader& reader) : reader_(reader) {}

  std::vector<Launch> launches(const JsonValue& json, const std::string& key) {
    std::vector<Launch> result;
    if (!reader_.is(json, Kind::Array, "\"" + key + "\"")) {
      return result;
    }
    if (json.items.empty()) {
      reader_.fail(json.at, "\"" + key + "\" is empty",
                   "at least one kernel, fill, copy or repeat");
    }
    for (const JsonValue& item : json.items) {
      if (reader_.is(item, Kind::Object, "an item of \"" + key + "\"")) {
        result.push_back(launch(item));
      }
    }
    return result;
  }

private:
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
      reader_.fail(json.at,
                   present.empty() ? "the launch has no kind"
                                   : "the launch has the kinds " + join(present, " and "),
                   "exactly one of the keys \"kernel\", \"fill\", \"copy\", \"repeat\"");
      return result;
    }
    result.when = reader_.optional_expression(json, "when");
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
    reader_.check_keys(
        json, "a kernel launch",
        {"kernel", "grid", "block", "shared_bytes", "args", "cluster", "cooperative", "when"});
    KernelLaunch result;
    const JsonValue& name = *json.find("kernel");
    if (reader_.is(name, Kind::String, "\"kernel\"")) {
      result.kernel = trim(name.text);
      if (result.kernel.empty()) {
        reader_.fail(name.at, "the kernel's name is empty", "the name of a __global__ function");
      }
    }
    const std::string where = fmt::format("the launch of {}", quote(result.kernel));
    if (const JsonValue* grid = reader_.required(json, "grid", where)) {
      result.grid = reader_.extents(*grid, "grid", kMaxDimensions, {false, true});
    }
    if (const JsonValue* block = reader_.required(json, "block", where)) {
      result.block = reader_.extents(*block, "block", kMaxDimensions);
    }
    if (const JsonValue* cluster = json.find("cluster")) {
      result.cluster = reader_.extents(*cluster, "cluster", kMaxDimensions);
    }
    result.shared_bytes = reader_.optional_expression(json, "shared_bytes");
    const JsonValue* args = reader_.required(json, "args", where);
    if (args != nullptr && reader_.is(*args, Kind::Array, "\"args\"")) {
      for (const JsonValue& item : args->items) {
        result.arguments.push_back(argument(item));
      }
    }
    result.cooperative = reader_.boolean_or_false(json, "cooperative");
    return result;
  }

  Argument argument(const JsonValue& json) {
    switch (json.kind) {
    case Kind::Null:
      return NullArgument{json.at};
    case Kind::Real:
      return FloatArgument{reader_.expression(json, "an argument", {true, false})};
    case Kind::Object:
      return argument_object(json);
    case Kind::Array:
      reader_.fail(json.at, "an argument is a list",
                   "{\"pick\": [...], \"by\": ...} to choose a buffer");
      return NullArgument{json.at};
    default:
      return IntegerArgument{reader_.expression(json, "an argument")};
    }
  }

  Argument argument_object(const JsonValue& json) {
    if (const JsonValue* value = json.find("float")) {
      reader_.check_keys(json, "a float argument", {"float"});
      return FloatArgument{reader_.expression(*value, "\"float\"", {true, false})};
    }
    if (const JsonValue* map = json.find("tensor_map")) {
      reader_.check_keys(json, "a tensor map argument", {"tensor_map"});
      const bool named = reader_.is(*map, Kind::String, "\"tensor_map\"");
      return TensorMapArgument{named ? map->text : "?", map->at};
    }
    if (json.find("pick") != nullptr || json.find("tensor") != nullptr) {
      return buffer(json, "an argument");
    }
    reader_.check_keys(json, "an argument", {"float", "pick", "by", "tensor", "at", "tensor_map"});
    if (json.members.empty() || json.find("at") != nullptr || json.find("by") != nullptr) {
      reader_.fail(json.at, "the argument has no value",
                   "{\"float\": ...}, {\"pick\": [...], \"by\": ...}, {\"tensor\": ..., \"at\": "
                   "...} or {\"tensor_map\": ...}");
    }
    return NullArgument{json.at};
  }

  BufferReference buffer(const JsonValue& json, const std::string& where) {
    BufferReference result;
    result.at = json.at;
    if (json.kind == Kind::String) {
      result.pick.push_back(reader_.buffer_name(json));
      return result;
    }
    if (!reader_.is(json, Kind::Object, where)) {
      return result;
    }
    using Keys = std::vector<std::string>;
    reader_.check_keys(json, where,
                       json.find("pick") == nullptr ? Keys{"tensor", "at"}
                                                    : Keys{"pick", "by", "at"});
    reader_.read_buffer(json, where, true, result);
    return result;
  }

  Fill fill(const JsonValue& json) {
    reader_.check_keys(json, "a fill", {"fill", "value", "at", "count", "when"});
    Fill result;
    result.buffer = buffer(*json.find("fill"), "\"fill\"");
    if (const JsonValue* at = json.find("at")) {
      if (!result.buffer.offset.expression.empty()) {
        reader_.fail(at->at, "the fill has \"at\" twice", "\"at\" once");
      }
      result.buffer.offset = reader_.expression(*at, "\"at\"");
    }
    if (const JsonValue* value = reader_.required(json, "value", "the fill")) {
      result.value = reader_.fill_value(*value);
    }
    result.count = reader_.optional_expression(json, "count");
    return result;
  }

  Copy copy(const JsonValue& json) {
    reader_.check_keys(json, "a copy",
                       {"copy", "to", "count", "rows", "from_stride", "to_stride", "when"});
    Copy result;
    result.from = buffer(*json.find("copy"), "\"copy\"");
    if (const JsonValue* to = reader_.required(json, "to", "the copy")) {
      result.to = buffer(*to, "\"to\"");
    }
    result.count = reader_.optional_expression(json, "count");
    result.rows = reader_.optional_expression(json, "rows");
    result.from_stride = reader_.optional_expression(json, "from_stride");
    result.to_stride = reader_.optional_expression(json, "to_stride");
    const bool pitched = !result.rows.expression.empty();
    const bool strided =
        !result.from_stride.expression.empty() || !result.to_stride.expression.empty();
    if (pitched && result.count.expression.empty()) {
      reader_.fail(json.at, "a copy of rows has no \"count\"", "the elements of one row");
    }
    if (strided && !pitched) {
      reader_.fail(json.at, "a copy with strides has no \"rows\"", "the number of rows");
    }
    return result;
  }

  Repeat repeat(const JsonValue& json) {
    reader_.check_keys(json, "a repeat", {"repeat", "as", "let", "do", "when"});
    Repeat result;
    result.times = reader_.expression(*json.find("repeat"), "\"repeat\"");
    const std::set<std::string> outer = reader_.names();
    const JsonValue* as = json.find("as");
    if (as != nullptr && reader_.is(*as, Kind::String, "\"as\"")) {
      reader_.declare(as->text, as->at, "loop variable");
      result.as = as->text;
    }
    result.let = parse_let(reader_, json);
    if (const JsonValue* body = reader_.required(json, "do", "the repeat")) {
      result.body = launches(*body, "do");
    }
    reader_.restore_names(outer);
    return result;
  }

  PlanReader& reader_;
};

std::vector<std::int64_t> table_values(PlanReader& reader, const JsonValue& json,
                                       const std::string& where) {
  std::vector<std::int64_t> values;
  if (!reader.is(json, Kind::Array, where)) {
    return {0};
  }
  for (const JsonValue& item : json.items) {
    if (item.kind != Kind::Integer) {
      reader.fail(item.at, fmt::format("a value of {} is {}", where, to_string(item.kind)),
                  "integers, such as [64, 64, 128]");
      return {0};
    }
    values.push_back(item.integer);
  }
  if (values.empty()) {
    reader.fail(json.at, where + " is empty", "at least one integer, such as [64, 64, 128]");
  }
  return values;
}

LetBinding table_binding(PlanReader& reader, const JsonMember& member, const JsonValue& table) {
  const std::string where = fmt::format("the table '{}'", member.key);
  reader.check_keys(member.value, where, {"table", "by"});
  LetBinding binding{member.key, {}, table_values(reader, table, where), {}, member.at};
  if (const JsonValue* by = reader.required(member.value, "by", where)) {
    binding.value = reader.expression(*by, "\"by\"");
  }
  return binding;
}

LetBinding let_binding(PlanReader& reader, const JsonMember& member) {
  if (const JsonValue* table = member.value.find("table")) {
    return table_binding(reader, member, *table);
  }
  LetBinding binding{member.key, {}, {}, {}, member.at};
  const JsonValue* constant = member.value.find("const");
  if (constant == nullptr) {
    binding.value = reader.expression(member.value, fmt::format("let '{}'", member.key));
    return binding;
  }
  reader.check_keys(member.value, "a device constant", {"const"});
  if (reader.is(*constant, Kind::String, "\"const\"")) {
    binding.device_constant = trim(constant->text);
    binding.value.at = constant->at;
    if (const auto mistake = device_constant_mistake(binding.device_constant)) {
      reader.fail(constant->at, *mistake,
                  "one constant expression of the device code, such as sizeof(T<{TILE}>)");
    }
  }
  return binding;
}

} // namespace

std::vector<Launch> parse_launches(PlanReader& reader, const JsonValue& json,
                                   const std::string& key) {
  return LaunchParser(reader).launches(json, key);
}

std::vector<LetBinding> parse_let(PlanReader& reader, const JsonValue& owner) {
  std::vector<LetBinding> result;
  for (const JsonMember& member : reader.members(owner, "let")) {
    reader.declare(member.key, member.at, "let binding");
    result.push_back(let_binding(reader, member));
  }
  return result;
}

} // namespace winnow::tasks
