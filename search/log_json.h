#pragma once

#include "base/fields.h"
#include "tasks/result/verdict.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

// JSON of the structs of a search's log from their lists of fields (base/fields.h). A list that
// stands alone may leave fields out at their usual value (optional()), which logs of earlier
// versions do not have.

namespace winnow::search {

struct FieldWriter {
  nlohmann::json& json;

  template <typename T> void field(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, tasks::Verdict>) {
      json[name] = to_string(value);
    } else {
      json[name] = value;
    }
  }
  template <typename T> void optional(const char* name, const T& value, const T& usual = {}) {
    if (!(value == usual)) {
      field(name, value);
    }
  }
  template <typename T> void optional(const char* name, const std::optional<T>& value) {
    if (value) {
      field(name, *value);
    }
  }
  /// The text is JSON itself; empty: null.
  void text(const char* name, const std::string& value) {
    json[name] = value.empty() ? nlohmann::json() : nlohmann::json::parse(value);
  }
};

/// Throws nlohmann exceptions, and bad_optional_access for an unknown verdict.
struct FieldReader {
  const nlohmann::json& json;

  template <typename T> void field(const char* name, T& value) {
    if constexpr (std::is_same_v<T, tasks::Verdict>) {
      value = tasks::verdict_from_string(json.at(name).get_ref<const std::string&>()).value();
    } else {
      json.at(name).get_to(value);
    }
  }
  template <typename T> void optional(const char* name, T& value, const T& usual = {}) {
    value = json.value(name, usual);
  }
  template <typename T> void optional(const char* name, std::optional<T>& value) {
    value.reset();
    if (const auto found = json.find(name); found != json.end()) {
      T held{};
      found->get_to(held);
      value = std::move(held);
    }
  }
  void text(const char* name, std::string& value) {
    value = json.at(name).is_null() ? "" : json.at(name).dump();
  }
};

template <typename T>
requires requires(FieldWriter& io, const T& value) {
  list_fields(io, value);
}
void to_json(nlohmann::json& json, const T& value) {
  json = nlohmann::json::object();
  FieldWriter writer{json};
  list_fields(writer, value);
}
template <typename T>
requires requires(FieldReader& io, T& value) {
  list_fields(io, value);
}
void from_json(const nlohmann::json& json, T& value) {
  FieldReader reader{json};
  list_fields(reader, value);
}

} // namespace winnow::search
