#pragma once

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

/// The candidate nearest to `word`, for "did you mean". The edit distance is at most a third of the
/// length of `word`, or 1 for a short word.
std::optional<std::string> nearest_match(std::string_view word,
                                         const std::vector<std::string>& candidates);

/// "; did you mean 'x'?" or, if no candidate is near, "; known: a, b, c". Empty without candidates.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// Byte offset of the first invalid UTF-8 sequence. nullopt if all of `text` is valid.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Replaces each invalid UTF-8 sequence and each control character except \n and \t by U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// `text` with each character that a terminal could obey or hide shown as an escape of JSON,
/// "\\u001b": C0 but \n and \t, DEL, C1, marks of direction, and characters without a width. A byte
/// that is not UTF-8 becomes "\\xNN". Everything else stays, so JSON keeps its meaning.
std::string visible(std::string_view text);

/// Whether `text` has the shape `shape`, in which 'd' stands for any digit: "dddd-dd-dd".
bool has_shape(std::string_view text, std::string_view shape);

/// '0' to '9', in every locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A letter, a digit or '_', in every locale.
constexpr bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}
/// The number that `text` is from its first to its last character; nullopt: it is none.
template <typename Number> std::optional<Number> whole_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}
std::vector<std::string_view> split_lines(std::string_view text);
std::string_view trim(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// The number of code points in `text`.
std::size_t display_width(std::string_view text);

/// Breaks `text` at spaces into lines of at most `columns` code points; 0 means no limit. A word
/// longer than `columns` gets its own line.
std::vector<std::string> wrap_words(std::string_view text, std::size_t columns);

/// Wraps one line as wrap_words() does and keeps its indentation. The lines after the first are
/// indented by `indent`. The result has no line end.
std::string wrap_line(std::string_view line, std::size_t columns, std::size_t indent);
/// Applies wrap_line() to each line of `text` and keeps the line ends.
std::string wrap_lines(std::string_view text, std::size_t columns, std::size_t indent);

/// The beginning of `text`, at most `max_bytes` long and cut at a line end or else between two
/// characters. If anything was cut, a line "[... N more bytes]" follows.
std::string truncate_text(std::string_view text, std::size_t max_bytes);

/// The beginning of `text`, at most `max_bytes` (4 or more) long. If anything was cut, "..." ends
/// it. The cut is between two words; only a word that would fill the second half is cut itself.
std::string shortened(std::string_view text, std::size_t max_bytes);

/// The current time as ISO-8601 UTC with milliseconds: 2026-11-20T09:44:26.123Z.
std::string utc_now();

/// The name of an enumerator by its number; the first name for a number that has none.
template <typename Enum, std::size_t N>
constexpr std::string_view name_by_number(Enum value, const std::string_view (&names)[N]) {
  const auto number = static_cast<std::size_t>(value);
  return names[number < N ? number : 0];
}

template <typename Items, typename Value> bool contains(const Items& items, const Value& value) {
  return std::find(items.begin(), items.end(), value) != items.end();
}

/// The first item with this `name`; nullptr: there is none.
template <typename Items> auto* find_named(Items& items, std::string_view name) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [name](const auto& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

/// What `of` gives for each item: a member of it, or a function.
template <typename T, typename Items, typename Of>
std::vector<T> each(const Items& items, const Of& of) {
  std::vector<T> list;
  for (const auto& item : items) {
    list.emplace_back(std::invoke(of, item));
  }
  return list;
}

} // namespace winnow
