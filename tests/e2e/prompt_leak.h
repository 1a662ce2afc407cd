#pragma once

#include "tasks/task/task.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::test {

/// The words that reveal a task's hidden shapes: their descriptions, and numbers (extents of at
/// least 100, tensor sizes, scalars) that no visible shape has.
std::set<std::string> hidden_words(const tasks::Task& task);

/// `text` without its fenced blocks, which contain the model's own code and the task's files.
std::string outside_code(std::string_view text);

/// `text` without numbers that have a unit ("149 us", "37 %", "1.5x") or show a change ("12 ->
/// 149"): a measured value may equal a hidden extent by chance.
std::string without_measurements(std::string_view text);

/// The words of `words` that occur in `text` on their own, not as part of a longer number or name.
std::vector<std::string> words_in(std::string_view text, const std::set<std::string>& words);

} // namespace winnow::test
