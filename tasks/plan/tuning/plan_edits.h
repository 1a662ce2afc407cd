#pragma once

#include "base/text/positioned_json.h"
#include "tasks/plan/kernel_file.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow::tasks {

/// Edits of a kernel file's text inside its plan. All other bytes stay, and so do line numbers.
/// Names and indices are those of the file as given. At most one edit for each of them.
class PlanEdits {
public:
  /// `file` comes from parse_kernel_file() and outlives the edits.
  explicit PlanEdits(const KernelFile& file);

  /// Moves the value to the front of the parameter's list. Does nothing if the list lacks it.
  void move_to_front(const std::string& parameter, std::int64_t value);
  /// Turns the parameters with these names into let bindings: name and expression.
  void bind(const std::vector<std::pair<std::string, std::string>>& bindings);
  /// Replaces the conditions of `where` with these indices by zero or more others.
  void replace_where(const std::vector<std::pair<std::size_t, std::vector<std::string>>>& replaced);

  std::string text() const; ///< with all edits

private:
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Edit {
    Span span;
    std::string text;
  };
  std::string_view text_at(Span span) const;
  std::size_t offset_of(SourcePosition at) const;
  Span span_of(const JsonValue& value) const;
  void remove(const std::vector<Span>& items, const std::vector<bool>& removed);

  const KernelFile& file_;
  std::vector<std::size_t> lines_; ///< offset of each line
  JsonValue plan_;
  std::vector<Edit> edits_;
};

} // namespace winnow::tasks
