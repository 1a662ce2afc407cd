#pragma once

#include "base/files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::test {

/// The JSON Schemas in docs/schemas, which list the fields of the documents of each schema with
/// their types. Of their words this reads `properties`, `items`, `additionalProperties`, `type`,
/// `const` and `$ref`.
class JsonPage {
public:
  explicit JsonPage(const std::filesystem::path& source_folder)
      : folder_(source_folder / "docs" / "schemas") {}

  /// The paths in `document` that its schema does not list, or lists without a type or with
  /// another one.
  std::vector<std::string> missing(const nlohmann::json& document) const {
    std::vector<std::string> unknown;
    const std::string name = document.at("schema");
    collect(document, "", meanings({&file(name + ".json")}), unknown);
    return unknown;
  }

private:
  /// The parts of schemas that speak about one value.
  using Parts = std::vector<const nlohmann::json*>;

  const nlohmann::json& file(const std::string& name) const {
    constexpr std::uint64_t kMaxBytes = 1U << 20U;
    const auto found = files_.find(name);
    return found != files_.end()
               ? found->second
               : files_.emplace(name, nlohmann::json::parse(read_file(folder_ / name, kMaxBytes)))
                     .first->second;
  }

  /// `parts` and what they refer to, such as "winnow.evaluation.json#/properties/build".
  Parts meanings(Parts parts) const {
    for (std::size_t i = 0; i < parts.size(); ++i) { // grows
      if (parts[i]->contains("$ref")) {
        const std::string reference = parts[i]->at("$ref");
        const std::size_t hash = reference.find('#');
        const std::string path = hash == std::string::npos ? "" : reference.substr(hash + 1);
        parts.push_back(&file(reference.substr(0, hash)).at(nlohmann::json::json_pointer(path)));
      }
    }
    return parts;
  }

  Parts below(const Parts& parts, const char* word) const {
    Parts found;
    for (const nlohmann::json* part : parts) {
      if (part->contains(word)) {
        found.push_back(&part->at(word));
      }
    }
    return meanings(found);
  }

  Parts property(const Parts& parts, const std::string& name) const {
    Parts found;
    for (const nlohmann::json* properties : below(parts, "properties")) {
      if (properties->contains(name)) {
        found.push_back(&properties->at(name));
      }
    }
    return meanings(found);
  }

  static bool has_type(const Parts& parts) {
    return std::any_of(parts.begin(), parts.end(), [](const nlohmann::json* part) {
      return part->contains("type") || part->contains("const");
    });
  }

  static bool is_allowed(const nlohmann::json& value, const Parts& parts) {
    const auto is_one_of = [&](const nlohmann::json& types, const std::string& type) {
      return types == type ||
             (types.is_array() && std::count(types.begin(), types.end(), type) > 0);
    };
    return std::all_of(parts.begin(), parts.end(), [&](const nlohmann::json* part) {
      const auto types = part->find("type");
      return types == part->end() ||
             is_one_of(*types, value.is_number() ? "number" : value.type_name()) ||
             (value.is_number_integer() && is_one_of(*types, "integer"));
    });
  }

  void collect(const nlohmann::json& value, const std::string& path, const Parts& parts,
               std::vector<std::string>& unknown) const {
    if (!is_allowed(value, parts)) {
      unknown.push_back(path + ": " + value.type_name());
    } else if (value.is_array()) {
      const Parts items = below(parts, "items");
      for (const nlohmann::json& element : value) {
        collect(element, path + "[]", items, unknown);
      }
      if (!value.empty() && items.empty()) {
        unknown.push_back(path + "[]");
      }
    } else if (value.is_object()) {
      for (const auto& [name, inner] : value.items()) {
        collect_member(name, inner, path.empty() ? name : path + "." + name, parts, unknown);
      }
    }
  }

  void collect_member(const std::string& name, const nlohmann::json& value, const std::string& path,
                      const Parts& parts, std::vector<std::string>& unknown) const {
    const Parts listed = property(parts, name);
    const Parts others = below(parts, "additionalProperties");
    if (listed.empty() && others.empty()) {
      unknown.push_back(path);
    } else if (!listed.empty() && !has_type(listed)) {
      unknown.push_back(path + ": no type");
    } else if (!listed.empty() || has_type(others)) { // otherwise it may be anything
      collect(value, path, listed.empty() ? others : listed, unknown);
    }
  }

  std::filesystem::path folder_;
  mutable std::map<std::string, nlohmann::json> files_;
};

} // namespace winnow::test
