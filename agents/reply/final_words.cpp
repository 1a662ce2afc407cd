#include "agents/reply/final_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace winnow::agents {
namespace {

constexpr std::size_t kMostWordBytes = 400; ///< that are read
constexpr std::size_t kMostLabelBytes = 48;
constexpr std::array<std::string_view, 18> kFinal{
    "final",  "finally", "corrected", "correction", "fix",       "fixed",
    "fixing", "after",   "revised",   "updated",    "improved",  "instead",
    "oops",   "new",     "response",  "answer",     "rewritten", "\xE6\x9C\x80\xE7\xBB\x88"};
constexpr std::array<std::string_view, 14> kFormer{
    "before",   "original", "parent", "old",        "previous",  "earlier",  "draft",
    "baseline", "existing", "naive",  "comparison", "reference", "thinking", "attempt"};

template <std::size_t N>
bool names_any(const std::string& text, const std::array<std::string_view, N>& words) {
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    std::size_t at = text.find(word);
    while (at != std::string::npos &&
           ((at > 0 && is_letter(at - 1)) || is_letter(at + word.size()))) {
      at = text.find(word, at + 1);
    }
    return at != std::string::npos;
  });
}

} // namespace

Standing standing_by(std::string_view words) {
  words.remove_prefix(words.size() - std::min(words.size(), kMostWordBytes));
  std::string text(words);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t end = text.find_last_not_of(" \n.:*#`");
  const std::size_t begin = end == std::string::npos ? end : text.find_last_of(".!?\n", end);
  const std::string sentence = begin == std::string::npos ? text : text.substr(begin);
  if (names_any(sentence, kFinal)) {
    return Standing::Final;
  }
  if (sentence.size() <= kMostLabelBytes && names_any(sentence, kFormer)) {
    return Standing::Former;
  }
  return names_any(text, kFinal) ? Standing::Final : Standing::Unknown;
}

} // namespace winnow::agents
