#pragma once

#include "base/files.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::test {

/// The JSON Schemas in docs/schemas, which list the fields of the documents of each schema. Of
/// their words this reads `properties`, `items`, `additionalProperties` and `$ref`.
class JsonPage {
public:
  explicit JsonPage(const std::filesystem::path& source_folder)
      : folder_(source_folder / "docs" / "schemas") {}

  /// The paths in `document` that its schema does not list.
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

  Parts member(const Parts& parts, const std::string& name) const {
    Parts found;
    for (const nlohmann::json* properties : below(parts, "properties")) {
      if (properties->contains(name)) {
        found.push_back(&properties->at(name));
      }
    }
    return found.empty() ? below(parts, "additionalProperties") : meanings(found);
  }

  void collect(const nlohmann::json& value, const std::string& path, const Parts& parts,
               std::vector<std::string>& unknown) const {
    if (value.is_array()) {
      for (const nlohmann::json& element : value) {
        collect(element, path + "[]", below(parts, "items"), unknown);
      }
    } else if (value.is_object()) {
      for (const auto& [name, inner] : value.items()) {
        const std::string inner_path = path.empty() ? name : path + "." + name;
        const Parts inner_parts = member(parts, name);
        if (inner_parts.empty()) {
          unknown.push_back(inner_path);
        } else {
          collect(inner, inner_path, inner_parts, unknown);
        }
      }
    }
  }

  std::filesystem::path folder_;
  mutable std::map<std::string, nlohmann::json> files_;
};

} // namespace winnow::test
