#pragma once

#include <map>
#include <string>
#include <vector>

namespace winnow::agents {

/// Text with {{name}} placeholders. Other braces are plain text.
class TextTemplate {
public:
  TextTemplate() = default;
  /// Throws UsageError with file:line for a placeholder that is not in `names`, and for braces
  /// round a name that are not exactly {{name}}.
  TextTemplate(std::string text, const std::string& file, const std::vector<std::string>& names);
  /// `values` has a value for every name that the constructor got. Placeholders inside a value are
  /// not expanded. Line ends at the end of a value are removed, because the template has its own.
  std::string fill(const std::map<std::string, std::string>& values) const;
  bool uses(const std::string& name) const;

private:
  struct Part {
    std::string text; ///< before the placeholder
    std::string name; ///< empty: there is none
  };
  std::vector<Part> parts_;
};

} // namespace winnow::agents
