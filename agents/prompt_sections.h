#pragma once

#include "agents/prompts.h"

#include <map>
#include <string>
#include <string_view>

namespace winnow::agents {

/// The values of task.md's placeholders. Of shapes only the search set of that device appears.
std::map<std::string, std::string> task_values(const tasks::Task& task, std::string_view device);
std::string facts_text(const tasks::DeviceFacts& facts);
std::string fenced_code(std::string_view code);   ///< capped; "(no code)" when empty
std::string history_line(const Attempt& attempt); ///< "- attempt 3: wrong: ..."

/// What the previous attempt teaches: whether its code is worth showing, and what to ask for.
struct Lesson {
  bool is_best = false; ///< it is shown as the best so far already
  bool show_code = false;
  std::string advice;
};

/// A correct kernel that is much slower than the best one, or the second wrong one in a row, is the
/// worst parent there is (in published runs 9 % and 0 % of such calls gained anything): its code is
/// not shown. A kernel that does not compile is worth repairing.
Lesson lesson_of(const ProposalContext& context);

} // namespace winnow::agents
