#pragma once

#include "base/fields.h"
#include "tasks/json/json_text.h"

#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

// JSON without loss for plain structs with a list of fields (base/fields.h).
// Reading throws Error, with the path of the value, for a missing or unknown key and for a value of
// another type or out of range. 64-bit numbers without a sign are decimal text, because many
// readers of JSON lose the digits after 2^53. Text that is not UTF-8 becomes {"hex": "c3..."}.

namespace winnow::tasks {

/// The first and the last enumerator of E, with no gap between. Only an E with a range can be
/// read. Its JSON is to_string(E), or its number if there is no such function.
struct EnumRange {
  constexpr EnumRange() = default;
  template <typename E>
  constexpr EnumRange(E low, E high) : first(static_cast<int>(low)), last(static_cast<int>(high)) {}

  int first = 0;
  int last = -1;
};
template <typename E> inline constexpr EnumRange kEnumRange{};
template <typename T> void read_json(const nlohmann::json& json, const std::string& path, T& value);

[[noreturn]] void throw_bad_json(const std::string& path, std::string_view expected);
std::string text_of_json(const nlohmann::json& json, const std::string& path);
std::uint64_t digits_of_json(const nlohmann::json& json, const std::string& path);
/// `any`: infinities and NaN are allowed.
double number_of_json(const nlohmann::json& json, const std::string& path, bool any);
/// Whether the field holds what a candidate computed or a plan says, which can be any number.
bool may_be_any_number(std::string_view field);
/// Throws Error unless `json` is a document of this schema and version. Removes both keys.
void take_schema(nlohmann::json& json, std::string_view schema, int version);
/// A tree of the text, for those who add to it or compare it.
template <typename T> nlohmann::json write_json(const T& value) {
  return nlohmann::json::parse(json_text(value));
}
/// With U+FFFD in the place of bytes that are not UTF-8, for documents that people read.
nlohmann::json with_valid_text(nlohmann::json json);
/// Throws Error if the text is no JSON.
nlohmann::json parse_json(std::string_view text, const std::string& name);

/// The text of a document with this schema and version.
template <typename T>
std::string write_document(const T& value, std::string_view schema, int version) {
  nlohmann::json json = write_json(value);
  json["schema"] = schema;
  json["version"] = version;
  return json.dump();
}
/// `name` stands for the document in messages. Throws Error.
template <typename T>
T read_document(std::string_view text, std::string_view schema, int version,
                const std::string& name) {
  nlohmann::json json = parse_json(text, name);
  take_schema(json, schema, version);
  T value;
  read_json(json, name, value);
  return value;
}

class FieldReader {
public:
  FieldReader(const nlohmann::json& json, std::string path);
  template <typename T> void field(const char* name, T& value) {
    const nlohmann::json& found = find(name);
    const std::string path = path_ + "." + name;
    if constexpr (std::is_same_v<T, double>) {
      value = number_of_json(found, path, may_be_any_number(name));
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      value = found.is_null() ? std::nullopt
                              : std::optional(number_of_json(found, path, may_be_any_number(name)));
    } else {
      read_json(found, path, value);
    }
  }
  /// Throws Error if there are other keys than those of the fields.
  void end() const;

private:
  const nlohmann::json& find(const char* name);

  const nlohmann::json& json_;
  std::string path_;
  std::vector<std::string_view> read_; // literals of WINNOW_FIELDS
};

template <typename T>
void read_fields(const nlohmann::json& json, const std::string& path, T& value) {
  FieldReader reader(json, path);
  list_fields(reader, value);
  reader.end();
}

template <typename T> nlohmann::json readable_json(const T& value) {
  return with_valid_text(write_json(value));
}

template <typename E>
void read_name(const nlohmann::json& json, const std::string& path, E& value) {
  const std::string text = text_of_json(json, path);
  std::string names;
  for (int i = kEnumRange<E>.first; i <= kEnumRange<E>.last; ++i) {
    const std::string_view name = to_string(static_cast<E>(i));
    if (name == text) {
      value = static_cast<E>(i);
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw_bad_json(path, "one of " + names);
}

template <typename T>
void read_integer(const nlohmann::json& json, const std::string& path, T& value) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
  if (!fits) {
    throw_bad_json(path, "an integer in range");
  }
  value = json.get<T>();
}

template <typename E>
void read_enum(const nlohmann::json& json, const std::string& path, E& value) {
  if constexpr (HasName<E>) {
    read_name(json, path, value);
  } else {
    int number = 0;
    read_integer(json, path, number);
    if (number < kEnumRange<E>.first || number > kEnumRange<E>.last) {
      throw_bad_json(path, "the number of an enumerator");
    }
    value = static_cast<E>(number);
  }
}

template <typename List>
void read_list(const nlohmann::json& json, const std::string& path, List& list) {
  if (!json.is_array()) {
    throw_bad_json(path, "a list");
  }
  if constexpr (kIsVector<List>) {
    list.clear();
    list.resize(json.size());
  } else if (json.size() != list.size()) {
    throw_bad_json(path, "a list of " + std::to_string(list.size()));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if constexpr (std::is_same_v<typename List::value_type, double>) {
      if (json[i].is_number_float() && std::isfinite(json[i].template get<double>())) {
        list[i] = json[i].template get<double>(); // without the text of a path for each sample
        continue;
      }
    }
    read_json(json[i], path + "." + std::to_string(i), list[i]);
  }
}

template <typename T>
void read_json(const nlohmann::json& json, const std::string& path, T& value) {
  if constexpr (HasJsonForm<T>) {
    JsonForm<T>::read(json, path, value);
  } else if constexpr (std::is_enum_v<T>) {
    read_enum(json, path, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    json.is_boolean() ? void(value = json.get<bool>()) : throw_bad_json(path, "true or false");
  } else if constexpr (kIsUnsigned64<T>) {
    value = digits_of_json(json, path);
  } else if constexpr (std::is_integral_v<T>) {
    read_integer(json, path, value);
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (!json.is_null()) {
      read_json(json, path, value.emplace());
    }
  } else if constexpr (kIsVector<T> || kIsArray<T>) {
    read_list(json, path, value);
  } else {
    read_fields(json, path, value);
  }
}

template <> struct JsonForm<std::string> {
  static void append(std::string& out, const std::string& text) { append_text(out, text); }
  static void read(const nlohmann::json& json, const std::string& path, std::string& text) {
    text = text_of_json(json, path);
  }
};

template <> struct JsonForm<double> {
  static void append(std::string& out, double number) { append_number(out, number); }
  static void read(const nlohmann::json& json, const std::string& path, double& number) {
    number = number_of_json(json, path, false);
  }
};

template <> struct JsonForm<std::chrono::milliseconds> {
  static void append(std::string& out, std::chrono::milliseconds duration) {
    append_number(out, std::int64_t{duration.count()});
  }
  static void read(const nlohmann::json& json, const std::string& path,
                   std::chrono::milliseconds& duration) {
    std::int64_t count = 0;
    read_integer(json, path, count);
    duration = std::chrono::milliseconds(count);
  }
};

template <> struct JsonForm<std::filesystem::path> {
  static void append(std::string& out, const std::filesystem::path& file) {
    append_text(out, file.string());
  }
  static void read(const nlohmann::json& json, const std::string& path,
                   std::filesystem::path& file) {
    file = text_of_json(json, path);
  }
};

/// {"type": index of the alternative, "value": ...}
template <typename... T> struct JsonForm<std::variant<T...>> {
  static void append(std::string& out, const std::variant<T...>& value) {
    out.append("{\"type\":").append(std::to_string(value.index())).append(",\"value\":");
    std::visit([&out](const auto& held) { append_json(out, held); }, value);
    out += '}';
  }
  static void read(const nlohmann::json& json, const std::string& path, std::variant<T...>& value) {
    if (!json.is_object() || json.size() != 2 || !json.contains("type") ||
        !json.contains("value")) {
      throw_bad_json(path, R"(an object with "type" and "value")");
    }
    std::size_t type = 0;
    const auto read_as = [&](auto& held) {
      read_json(json["value"], path, held);
      return true;
    };
    if (!((json["type"] == type++ && read_as(value.template emplace<T>())) || ...)) {
      throw_bad_json(path + ".type", "a number below " + std::to_string(sizeof...(T)));
    }
  }
};

/// A choice of parameters.
template <> struct JsonForm<std::map<std::string, std::int64_t>> {
  static void append(std::string& out, const std::map<std::string, std::int64_t>& values);
  static void read(const nlohmann::json& json, const std::string& path,
                   std::map<std::string, std::int64_t>& values);
};

} // namespace winnow::tasks
