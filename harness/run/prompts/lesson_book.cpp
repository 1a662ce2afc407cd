#include "harness/run/prompts/lesson_book.h"

#include "evaluators/evaluation/blank_evaluation.h"
#include "search/outcome.h"
#include "store/advice.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::int64_t kMostLessons = 64; // that are read from the store
constexpr std::size_t kShownLessons = 5;
constexpr std::string_view kSeparator = ", ";
constexpr std::string_view kLimitedBy = "limited by ";

std::vector<std::string_view> parts_of(std::string_view cell) {
  std::vector<std::string_view> parts;
  while (!cell.empty()) {
    const std::size_t end = std::min(cell.find(kSeparator), cell.size());
    parts.push_back(cell.substr(0, end));
    cell.remove_prefix(std::min(end + kSeparator.size(), cell.size()));
  }
  return parts;
}

} // namespace

int likeness_of_cells(std::string_view a, std::string_view b) {
  const std::vector<std::string_view> others = parts_of(b);
  int likeness = 0;
  for (const std::string_view part : parts_of(a)) {
    if (std::find(others.begin(), others.end(), part) != others.end()) {
      likeness += part.starts_with(kLimitedBy) ? kLimiterParts : 1;
    }
  }
  return likeness;
}

const std::vector<LessonBook::Entry>& LessonBook::entries_of(const std::string& task) {
  const auto [known, is_new] = entries_.try_emplace(task);
  if (!is_new) {
    return known->second;
  }
  const Journal& journal = setup_.journal;
  for (const store::Lesson& lesson :
       store::lessons(journal.store(), journal.run(), task, setup_.device_name,
                      evaluators::kEvaluatorVersion, kMostLessons)) {
    const std::string idea = shelf_.at(lesson.child).idea;
    if (idea.empty()) {
      continue; // numbers without the change teach nothing
    }
    std::string cell = search::cell_of(shelf_.at(lesson.parent).evaluation);
    std::string line = fmt::format(
        "{:.2f}x ({:.2f}x to {:.2f}x) on {}, from a kernel with: {}. Change: {}", lesson.gain,
        lesson.gain_bounds.low, lesson.gain_bounds.high, lesson.task, cell, idea);
    known->second.push_back({std::move(cell), std::move(line)});
  }
  return known->second;
}

std::vector<std::string> LessonBook::lines_for(const std::string& task, const std::string& cell) {
  std::vector<std::pair<int, const Entry*>> alike;
  for (const Entry& entry : entries_of(task)) {
    if (const int likeness = likeness_of_cells(entry.cell, cell); likeness > 0) {
      alike.emplace_back(likeness, &entry);
    }
  }
  std::stable_sort(alike.begin(), alike.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  for (const auto& [likeness, entry] : alike) {
    if (lines.size() < kShownLessons) {
      lines.push_back(entry->line);
    }
  }
  return lines;
}

} // namespace winnow::harness
