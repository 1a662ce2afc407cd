#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// JSON without loss for plain structs. A struct lists its fields once, for writing and reading:
//
//   WINNOW_JSON_FIELDS(Bounds, low, high)
//
// stands in the namespace of the struct, in a .cpp file. It does not compile if a field is missing.
// Reading throws Error, with the path of the value, for a missing or unknown key and for a value of
// another type or out of range. 64-bit numbers without a sign are decimal text, because many
// readers of JSON lose the digits after 2^53. Text that is not UTF-8 becomes {"hex": "c3..."}.

#define WINNOW_JSON_FIELD(name) io.field(#name, value.name);
#define WINNOW_JSON_FIELDS(Type, ...)                                                              \
  template <typename Io, typename Value>                                                           \
  requires std::same_as<std::remove_const_t<Value>, Type>                                          \
  void list_fields(Io& io, Value& value) {                                                         \
    { [[maybe_unused]] auto& [__VA_ARGS__] = value; }                                              \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(WINNOW_JSON_FIELD, __VA_ARGS__))                      \
  }

namespace winnow::tasks {

/// The first and the last enumerator of E, with no gap between. Only an E with a range can be
/// written and read; its text is to_string(E).
struct EnumRange {
  int first = 0;
  int last = -1;
};
template <typename E> inline constexpr EnumRange kEnumRange{};

/// The JSON of a type that is no struct with a list of fields: write(value) and
/// read(json, path, value).
template <typename T> struct JsonForm;

template <typename T> nlohmann::json write_json(const T& value);
template <typename T> void read_json(const nlohmann::json& json, const std::string& path, T& value);

[[noreturn]] void throw_bad_json(const std::string& path, std::string_view expected);
nlohmann::json text_json(const std::string& text);
std::string text_of_json(const nlohmann::json& json, const std::string& path);
std::uint64_t digits_of_json(const nlohmann::json& json, const std::string& path);
/// `any`: infinities and NaN are allowed.
double number_of_json(const nlohmann::json& json, const std::string& path, bool any);
/// Whether the field holds what a candidate computed, which can be any number.
bool may_be_any_number(std::string_view field);
/// Throws Error unless `json` is a document of this schema and version. Removes both keys.
void take_schema(nlohmann::json& json, std::string_view schema, int version);
/// Throws Error if the text is no JSON.
nlohmann::json parse_json(std::string_view text, const std::string& name);

class FieldWriter {
public:
  template <typename T> void field(const char* name, const T& value) {
    json_[name] = write_json(value);
  }
  nlohmann::json take() { return std::move(json_); }

private:
  nlohmann::json json_ = nlohmann::json::object();
};

class FieldReader {
public:
  FieldReader(const nlohmann::json& json, std::string path);
  template <typename T> void field(const char* name, T& value) {
    const nlohmann::json& found = find(name);
    if constexpr (std::is_same_v<T, double>) {
      value = number_of_json(found, path_ + "." + name, may_be_any_number(name));
    } else {
      read_json(found, path_ + "." + name, value);
    }
  }
  /// Throws Error if there are other keys than those of the fields.
  void end() const;

private:
  const nlohmann::json& find(const char* name);

  const nlohmann::json& json_;
  std::string path_;
  std::vector<std::string> read_;
};

template <typename T> inline constexpr bool kIsOptional = false;
template <typename T> inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T> inline constexpr bool kIsVector = false;
template <typename T> inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
concept HasJsonForm = requires(const T& value) {
  JsonForm<T>::write(value);
};

template <typename T> nlohmann::json write_json(const T& value) {
  using nlohmann::json;
  if constexpr (HasJsonForm<T>) {
    return JsonForm<T>::write(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return std::to_string(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (kIsOptional<T>) {
    return value ? write_json(*value) : json();
  } else if constexpr (kIsVector<T>) {
    json list = json::array();
    for (const auto& element : value) {
      list.push_back(write_json(element));
    }
    return list;
  } else {
    FieldWriter writer;
    list_fields(writer, value);
    return writer.take();
  }
}

template <typename E>
void read_enum(const nlohmann::json& json, const std::string& path, E& value) {
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

template <typename T>
void read_json(const nlohmann::json& json, const std::string& path, T& value) {
  if constexpr (HasJsonForm<T>) {
    JsonForm<T>::read(json, path, value);
  } else if constexpr (std::is_enum_v<T>) {
    read_enum(json, path, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    json.is_boolean() ? void(value = json.get<bool>()) : throw_bad_json(path, "true or false");
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    value = digits_of_json(json, path);
  } else if constexpr (std::is_integral_v<T>) {
    read_integer(json, path, value);
  } else if constexpr (std::is_same_v<T, double>) {
    value = number_of_json(json, path, false);
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (!json.is_null()) {
      read_json(json, path, value.emplace());
    }
  } else if constexpr (kIsVector<T>) {
    if (!json.is_array()) {
      throw_bad_json(path, "a list");
    }
    value.clear();
    for (const nlohmann::json& element : json) {
      read_json(element, path + "." + std::to_string(value.size()), value.emplace_back());
    }
  } else {
    FieldReader reader(json, path);
    list_fields(reader, value);
    reader.end();
  }
}

template <> struct JsonForm<std::string> {
  static nlohmann::json write(const std::string& text) { return text_json(text); }
  static void read(const nlohmann::json& json, const std::string& path, std::string& text) {
    text = text_of_json(json, path);
  }
};

template <> struct JsonForm<double> {
  static nlohmann::json write(double number);
  static void read(const nlohmann::json& json, const std::string& path, double& number) {
    number = number_of_json(json, path, false);
  }
};

template <> struct JsonForm<std::chrono::milliseconds> {
  static nlohmann::json write(std::chrono::milliseconds duration) { return duration.count(); }
  static void read(const nlohmann::json& json, const std::string& path,
                   std::chrono::milliseconds& duration) {
    std::int64_t count = 0;
    read_integer(json, path, count);
    duration = std::chrono::milliseconds(count);
  }
};

/// A choice of parameters.
template <> struct JsonForm<std::map<std::string, std::int64_t>> {
  static nlohmann::json write(const std::map<std::string, std::int64_t>& values);
  static void read(const nlohmann::json& json, const std::string& path,
                   std::map<std::string, std::int64_t>& values);
};

} // namespace winnow::tasks
