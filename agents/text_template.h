#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// Text with {{name}} placeholders (lower case, digits, underscores); other braces are plain text.
class TextTemplate {
public:
  TextTemplate() = default;
  /// Throws Error with file:line for a placeholder that is not among `names`.
  TextTemplate(std::string text, const std::string& file, const std::vector<std::string>& names);
  /// `values` has every name that the constructor was given. Values are not expanded again; line
  /// ends at their end are left to the template.
  std::string fill(const std::map<std::string, std::string>& values) const;

private:
  std::string text_;
};

} // namespace winnow::agents
