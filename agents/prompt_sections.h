#pragma once

#include "agents/prompts.h"

#include <map>
#include <string>
#include <string_view>

namespace winnow::agents {

/// The values of the placeholders in task.md. Of the shapes only the search set of this device
/// appears.
std::map<std::string, std::string> task_values(const tasks::Task& task, std::string_view device);
std::string facts_text(const tasks::DeviceFacts& facts);
std::string fenced_code(std::string_view code);   ///< shortened if too long; "(no code)" when empty
std::string history_line(const Attempt& attempt); ///< "- attempt 3: wrong: ..."

/// What the prompt says about the previous attempt: whether to show its code, and which advice to
/// give.
struct Lesson {
  bool is_best = false; ///< the prompt already shows it as the best attempt
  bool show_code = false;
  std::string advice;
};

/// Decides which code is shown. The code of two kinds of attempts is not shown, because they are
/// the worst parents: a correct kernel that is much slower than the best one, and the second wrong
/// kernel in a row. In published runs only 9 % and 0 % of the calls with such parents gained
/// anything. A kernel that does not compile is worth a repair, so its code is shown.
Lesson lesson_of(const ProposalContext& context);

} // namespace winnow::agents
