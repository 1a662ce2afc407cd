#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// Writes the JSON of json_fields.h, without a tree of values: a message with a plan has hundreds of
// values. The keys stand in the order of the fields.

namespace winnow::tasks {

/// The JSON of a type that is no struct with a list of fields: append(out, value) and
/// read(json, path, value).
template <typename T> struct JsonForm;
template <typename T>
concept HasJsonForm = requires(std::string& out, const T& value) {
  JsonForm<T>::append(out, value);
};
template <typename E>
concept HasName = requires(E value) {
  to_string(value);
};

template <typename T> inline constexpr bool kIsOptional = false;
template <typename T> inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T> inline constexpr bool kIsVector = false;
template <typename T> inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T> inline constexpr bool kIsArray = false;
template <typename T, std::size_t N> inline constexpr bool kIsArray<std::array<T, N>> = true;

/// std::uint64_t, and the type of the same size that is not the same type.
template <typename T>
inline constexpr bool kIsUnsigned64 =
    std::is_same_v<T, std::uint64_t> || std::is_same_v<T, unsigned long long>;

template <typename T> void append_json(std::string& out, const T& value);

/// With U+FFFD in the place of bytes that are not UTF-8.
void append_tree(std::string& out, const nlohmann::json& json);
void append_text(std::string& out, const std::string& text);
void append_number(std::string& out, double number);
void append_number(std::string& out, std::int64_t number);

class FieldTextWriter {
public:
  explicit FieldTextWriter(std::string& out) : out_(out) { out_ += '{'; }
  template <typename T> void field(const char* name, const T& value) {
    out_ += first_ ? "\"" : ",\"";
    out_.append(name).append("\":");
    append_json(out_, value);
    first_ = false;
  }
  void end() { out_ += '}'; }

private:
  std::string& out_;
  bool first_ = true;
};

template <typename T> void append_fields(std::string& out, const T& value) {
  FieldTextWriter writer(out);
  list_fields(writer, value);
  writer.end();
}

template <typename List> void append_list(std::string& out, const List& list) {
  out += '[';
  const char* separator = "";
  for (const auto& element : list) {
    out += separator;
    append_json(out, element);
    separator = ",";
  }
  out += ']';
}

template <typename T> void append_json(std::string& out, const T& value) {
  if constexpr (HasJsonForm<T>) {
    JsonForm<T>::append(out, value);
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (HasName<T>) {
      append_text(out, std::string(to_string(value)));
    } else {
      append_number(out, std::int64_t{static_cast<int>(value)});
    }
  } else if constexpr (kIsUnsigned64<T>) {
    out.append("\"").append(std::to_string(value)).append("\"");
  } else if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    append_number(out, static_cast<std::int64_t>(value));
  } else if constexpr (kIsOptional<T>) {
    value ? append_json(out, *value) : void(out += "null");
  } else if constexpr (kIsVector<T> || kIsArray<T>) {
    append_list(out, value);
  } else {
    append_fields(out, value);
  }
}

/// On one line, without a line end.
template <typename T> std::string json_text(const T& value) {
  std::string out;
  append_json(out, value);
  return out;
}

/// A number as JSON. JSON has no infinities and no NaN; they become the strings "inf", "-inf" and
/// "nan". The worker protocol, the store and the exports share this form.
nlohmann::json number_json(double value);
/// The inverse of number_json(). Throws std::invalid_argument or a nlohmann exception for other
/// JSON.
double number_of(const nlohmann::json& json);

} // namespace winnow::tasks
