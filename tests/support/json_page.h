#pragma once

#include "base/files.h"
#include "base/text.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace winnow::test {

/// Reads docs/json.md, which lists the fields of the documents of each schema. A table row names
/// fields by path: "rows[].task"; "counters.*" stands for any name. "as `winnow.x` `rows[]`" means
/// that the field has the same fields as that path in the other schema (without a path: as its top
/// level).
class JsonPage {
public:
  explicit JsonPage(const std::filesystem::path& source_folder) {
    constexpr std::uint64_t kMaxBytes = 1U << 20U;
    std::set<std::string>* fields = nullptr;
    const std::string page = read_file(source_folder / "docs" / "json.md", kMaxBytes);
    for (const std::string_view line : split_lines(page)) {
      if (line.starts_with("## ")) {
        const std::vector<std::string> words = quoted(line);
        fields = words.empty() ? nullptr : &fields_[words.front()];
      } else if (fields != nullptr && line.starts_with("| `")) {
        read_row(line, *fields);
      }
    }
  }

  /// The paths in `document` that the page does not list.
  std::vector<std::string> missing(const nlohmann::json& document) const {
    const auto found = fields_.find(document.at("schema").get<std::string>());
    std::vector<std::string> unknown;
    collect(document, "", found == fields_.end() ? std::set<std::string>{} : found->second,
            unknown);
    return unknown;
  }

private:
  static std::vector<std::string> quoted(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`', at)) {
      const std::size_t end = text.find('`', at + 1);
      words.emplace_back(text.substr(at + 1, end - at - 1));
      at = end == std::string_view::npos ? end : end + 1;
    }
    return words;
  }

  void read_row(std::string_view line, std::set<std::string>& fields) {
    const std::size_t cell = line.find('|', 1);
    const std::vector<std::string> names = quoted(line.substr(0, cell));
    fields.insert(names.begin(), names.end());
    const std::size_t alias = line.find(" as `winnow.", cell);
    if (alias == std::string_view::npos) {
      return;
    }
    const std::string_view rest = line.substr(alias, line.find_first_of(",;|", alias) - alias);
    const std::vector<std::string> source = quoted(rest);
    const std::string begin = source.size() > 1 ? source[1] + "." : "";
    // A schema that is further up on the page.
    const std::set<std::string> others = fields_[source.front()];
    for (const std::string& name : names) {
      for (const std::string& other : others) {
        if (other.starts_with(begin)) {
          fields.insert(name + "." + other.substr(begin.size()));
        }
      }
    }
  }

  static bool listed(const std::string& path, const std::set<std::string>& fields) {
    const std::size_t dot = path.rfind('.');
    return fields.contains(path) ||
           (dot != std::string::npos && fields.contains(path.substr(0, dot) + ".*"));
  }

  static void collect(const nlohmann::json& value, const std::string& path,
                      const std::set<std::string>& fields, std::vector<std::string>& unknown) {
    if (value.is_array()) {
      for (const nlohmann::json& element : value) {
        collect(element, path + "[]", fields, unknown);
      }
      return;
    }
    if (!value.is_object()) {
      return;
    }
    for (const auto& [name, member] : value.items()) {
      const std::string inner = path.empty() ? name : path + "." + name;
      if (!listed(inner, fields)) {
        unknown.push_back(inner);
        continue;
      }
      const bool any_name = !fields.contains(inner);
      collect(member, any_name ? path + ".*" : inner, fields, unknown);
    }
  }

  std::map<std::string, std::set<std::string>> fields_;
};

} // namespace winnow::test
