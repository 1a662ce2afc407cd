#pragma once

#include "tasks/task.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::test {

/// What tells a task's hidden shapes: their descriptions, and the numbers (extents of at least 100,
/// tensor sizes, scalars) that no shown shape has.
std::set<std::string> hidden_words(const tasks::Task& task);

/// `text` without its fenced blocks: what the model itself wrote, and the task's files.
std::string outside_code(std::string_view text);

/// `text` without numbers that carry a unit ("149 us", "37 %", "1.5x") or a change ("12 -> 149"):
/// what was measured may equal a hidden extent by chance.
std::string without_measurements(std::string_view text);

/// Which of `words` stand in `text`, not as a part of a longer number or name.
std::vector<std::string> words_in(std::string_view text, const std::set<std::string>& words);

} // namespace winnow::test
