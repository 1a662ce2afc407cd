#include "base/text.h"
#include "tasks/plan/plan_parse.h"

#include <utility>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using Kind = JsonValue::Kind;

constexpr std::size_t kMaxRank = 5;

template <class Enum> using Words = std::vector<std::pair<std::string, Enum>>;

const Words<Swizzle> kSwizzles{{"none", Swizzle::None},
                               {"32B", Swizzle::Bytes32},
                               {"64B", Swizzle::Bytes64},
                               {"128B", Swizzle::Bytes128}};
const Words<Interleave> kInterleaves{
    {"none", Interleave::None}, {"16B", Interleave::Bytes16}, {"32B", Interleave::Bytes32}};
const Words<L2Promotion> kPromotions{{"none", L2Promotion::None},
                                     {"64B", L2Promotion::Bytes64},
                                     {"128B", L2Promotion::Bytes128},
                                     {"256B", L2Promotion::Bytes256}};
const Words<OutOfBoundsFill> kFills{{"zero", OutOfBoundsFill::Zero}, {"nan", OutOfBoundsFill::NaN}};

class TensorMapParser {
public:
  explicit TensorMapParser(PlanReader& reader) : reader_(reader) {}

  TensorMap parse(const JsonMember& member) {
    const JsonValue& json = member.value;
    const std::string where = fmt::format("tensor map '{}'", member.key);
    TensorMap map;
    map.name = member.key;
    map.at = member.at;
    if (!reader_.is(json, Kind::Object, where)) {
      return map;
    }
    reader_.check_keys(json, where,
                       {"tensor", "pick", "by", "at", "dtype", "extents", "strides", "box",
                        "element_strides", "swizzle", "interleave", "l2_promotion", "fill"});
    const JsonValue* tensor = json.find("tensor");
    const JsonValue* pick = json.find("pick");
    map.buffer.at = pick != nullptr ? pick->at : tensor != nullptr ? tensor->at : json.at;
    if (pick != nullptr && tensor != nullptr) {
      reader_.fail(pick->at, where + " has both \"tensor\" and \"pick\"", "one of them");
    }
    reader_.read_buffer(json, where, false, map.buffer);
    if (const JsonValue* dtype = json.find("dtype")) {
      map.dtype = reader_.dtype(*dtype);
    }
    read_lists(json, where, map);
    map.options = {word(json, "swizzle", kSwizzles), word(json, "interleave", kInterleaves),
                   word(json, "l2_promotion", kPromotions), word(json, "fill", kFills)};
    return map;
  }

private:
  void read_lists(const JsonValue& json, const std::string& where, TensorMap& map) {
    if (const JsonValue* extents = reader_.required(json, "extents", where)) {
      map.extents = reader_.extents(*extents, "extents", kMaxRank);
    }
    const std::size_t rank = map.extents.size();
    if (const JsonValue* box = reader_.required(json, "box", where)) {
      map.box = same_length(*box, "box", rank);
    }
    if (const JsonValue* steps = json.find("element_strides")) {
      map.element_strides = same_length(*steps, "element_strides", rank);
    }
    const JsonValue* strides = json.find("strides");
    if (strides != nullptr && !(rank == 1 && strides->items.empty())) {
      map.strides = same_length(*strides, "strides", rank == 0 ? 0 : rank - 1);
    }
  }

  std::vector<PlanExpression> same_length(const JsonValue& json, const std::string& key,
                                          std::size_t expected) {
    std::vector<PlanExpression> result = reader_.extents(json, key, kMaxRank);
    if (result.size() != expected) {
      reader_.fail(json.at, fmt::format("\"{}\" has {} values", key, result.size()),
                   key == "strides"
                       ? fmt::format("{}: one for each of \"extents\" but the innermost", expected)
                       : fmt::format("{}: one for each of \"extents\"", expected));
    }
    return result;
  }

  template <class Enum>
  Enum word(const JsonValue& json, std::string_view key, const Words<Enum>& words) {
    const JsonValue* found = json.find(key);
    if (found == nullptr || !reader_.is(*found, Kind::String, fmt::format("\"{}\"", key))) {
      return words.front().second;
    }
    std::vector<std::string> known;
    for (const auto& [text, value] : words) {
      if (text == found->text) {
        return value;
      }
      known.push_back(text);
    }
    reader_.fail(found->at, fmt::format("unknown {} {}", key, quote(found->text)),
                 "one of " + join(known, ", "));
    return words.front().second;
  }

  PlanReader& reader_;
};

} // namespace

std::vector<TensorMap> parse_tensor_maps(PlanReader& reader, const JsonValue& plan) {
  std::vector<TensorMap> result;
  for (const JsonMember& member : reader.members(plan, "tensor_maps")) {
    reader.declare(member.key, member.at, "tensor map");
    result.push_back(TensorMapParser(reader).parse(member));
  }
  return result;
}

} // namespace winnow::tasks
