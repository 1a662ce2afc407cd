#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// Text with {{name}} placeholders (lower case, digits, underscores). Other braces are plain text.
class TextTemplate {
public:
  TextTemplate() = default;
  /// Throws UsageError with file:line for a placeholder that is not in `names`.
  TextTemplate(std::string text, const std::string& file, const std::vector<std::string>& names);
  /// `values` has a value for every name that the constructor got. Placeholders inside a value are
  /// not expanded. Line ends at the end of a value are removed, because the template has its own.
  std::string fill(const std::map<std::string, std::string>& values) const;

private:
  std::string text_;
};

} // namespace winnow::agents
