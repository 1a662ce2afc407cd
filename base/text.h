#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

/// The candidate most like `word` (edit distance at most a third of its length), for "did you
/// mean".
std::optional<std::string> nearest_match(std::string_view word,
                                         const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" or, with nothing near, "; known: a, b, c" (empty for no candidates).
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// Byte offset of the first invalid UTF-8 sequence, if any.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// `text` with each invalid UTF-8 sequence and each control character but \n and \t replaced by
/// U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// Whether `text` is like `shape`, in which 'd' stands for any digit: "dddd-dd-dd".
bool has_shape(std::string_view text, std::string_view shape);

/// '0' to '9', whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::vector<std::string_view> split_lines(std::string_view text);
std::string_view trim(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// In code points.
std::size_t display_width(std::string_view text);

/// `text` broken at spaces into lines of at most `columns` code points; a longer word has a line of
/// its own. 0: no limit.
std::vector<std::string> wrap_words(std::string_view text, std::size_t columns);

/// One line with its own indentation, broken as by wrap_words(); the lines after the first are
/// indented by `indent`. Without a line end.
std::string wrap_line(std::string_view line, std::size_t columns, std::size_t indent);
/// The same of each line of `text`, with its line ends.
std::string wrap_lines(std::string_view text, std::size_t columns, std::size_t indent);

/// At most `max_bytes` of `text`, cut at a line or character end, with a note of what was left out.
std::string truncate_text(std::string_view text, std::size_t max_bytes);

/// Now, as ISO-8601 UTC with milliseconds: 2026-11-20T09:44:26.123Z.
std::string utc_now();

} // namespace winnow
