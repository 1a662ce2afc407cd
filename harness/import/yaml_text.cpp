#include "harness/import/yaml_text.h"

#include "base/error.h"
#include "base/text.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr int kMostLevels = 40;
constexpr std::size_t kMostValues = 100'000; // an alias counts as often as it stands
constexpr const char* kRemedy = "correct the file, or take a checkout of another commit";

[[noreturn]] void fail(const std::string& file, const YAML::Mark& mark, const std::string& what) {
  throw UsageError(mark.is_null()
                       ? fmt::format("{}: {}", file, what)
                       : fmt::format("{}:{}:{}: {}", file, mark.line + 1, mark.column + 1, what),
                   kRemedy);
}

template <typename Number> std::optional<Number> as_number(const std::string& text) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  Number value{};
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// YAML 1.1 has more words for these, which other readers take as strings.
json plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") {
    return true;
  }
  if (text == "false" || text == "False" || text == "FALSE") {
    return false;
  }
  if (const auto integer = as_number<std::int64_t>(text)) {
    return *integer;
  }
  if (const auto number = as_number<double>(text); number && std::isfinite(*number)) {
    return *number;
  }
  return to_valid_utf8(text);
}

class Reader {
public:
  explicit Reader(const std::string& file) : file_(file) {}

  json value(const YAML::Node& node, int level) {
    if (level > kMostLevels || ++values_ > kMostValues) {
      fail(file_, node.Mark(),
           level > kMostLevels ? fmt::format("nested more than {} levels deep", kMostLevels)
                               : fmt::format("more than {} values", kMostValues));
    }
    if (node.IsMap()) {
      return table(node, level);
    }
    if (node.IsSequence()) {
      json list = json::array();
      for (const YAML::Node& item : node) {
        list.push_back(value(item, level + 1));
      }
      return list;
    }
    if (!node.IsScalar()) {
      return nullptr;
    }
    return node.Tag() == "?" ? plain_scalar(node.Scalar()) : json(to_valid_utf8(node.Scalar()));
  }

private:
  json table(const YAML::Node& node, int level) {
    json found = json::object();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        fail(file_, entry.first.Mark(), "a key is no plain text");
      }
      found[to_valid_utf8(entry.first.Scalar())] = value(entry.second, level + 1);
    }
    return found;
  }

  const std::string& file_;
  std::size_t values_ = 0;
};

} // namespace

json yaml_as_json(const std::string& text, const std::string& file) {
  try {
    return Reader(file).value(YAML::Load(text), 0);
  } catch (const YAML::Exception& error) {
    fail(file, error.mark, "not YAML: " + error.msg);
  }
}

} // namespace winnow::harness
