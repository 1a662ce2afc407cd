#include "tasks/reference/narrowing.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/source/tokens.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::string_view kMark = "NARROW";

/// NARROW, (, name and the comma.
constexpr std::size_t kTokensOfMark = 4;

bool is_well_formed(const std::vector<Token>& tokens, std::size_t at) {
  return at + kTokensOfMark <= tokens.size() && tokens[at + 1].text == "(" &&
         tokens[at + 2].kind == Token::Kind::Identifier && tokens[at + 3].text == ",";
}

/// Replaces every mark by `head(name)`, from the last to the first.
std::string replaced(std::string_view source, const std::vector<NarrowMark>& marks,
                     const std::function<std::string(const NarrowMark&)>& head) {
  std::string text(source);
  std::for_each(marks.rbegin(), marks.rend(), [&](const NarrowMark& mark) {
    text.replace(mark.begin, mark.end - mark.begin, head(mark));
  });
  return text;
}

} // namespace

std::vector<NarrowMark> narrow_marks(std::string_view source, const std::string& file) {
  std::vector<std::size_t> offsets;
  const std::string text = normalise_source(source, &offsets);
  SourceMarks ignored;
  const std::vector<Token> tokens = tokenize(text, &ignored);
  std::vector<NarrowMark> marks;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::Identifier || tokens[i].text != kMark) {
      continue;
    }
    if (!is_well_formed(tokens, i)) {
      throw UsageError(fmt::format("{}:{}: {} without a name; expected {}(name, expression)", file,
                                   tokens[i].line, kMark, kMark));
    }
    marks.push_back({std::string(tokens[i + 2].text), offsets[tokens[i].begin],
                     offsets[tokens[i + 3].begin] + 1});
  }
  return marks;
}

std::vector<std::string> narrow_names(const std::vector<NarrowMark>& marks) {
  std::vector<std::string> names;
  for (const NarrowMark& mark : marks) {
    if (!contains(names, mark.name)) {
      names.push_back(mark.name);
    }
  }
  return names;
}

std::string to_string(const Narrowing& narrowing) {
  return fmt::format("{} as {}", narrowing.name, to_string(narrowing.format));
}

std::vector<Narrowing> narrowings_of(const Task& task) {
  std::vector<Narrowing> all;
  for (const std::string& name : narrow_names(narrow_marks(task.reference, "reference.cu"))) {
    const auto allowed = task.tolerance.allows.find(name);
    const bool is_allowed = allowed != task.tolerance.allows.end();
    if (is_allowed) {
      all.push_back({name, allowed->second, true});
    }
    for (const Precision format :
         next_coarser(is_allowed ? allowed->second : task.tolerance.accumulate)) {
      all.push_back({name, format});
    }
  }
  return all;
}

std::vector<Precision> next_coarser(Precision precision) {
  using enum Precision;
  switch (precision) {
  case F64:
    return {F32};
  case F32:
    return {F16, BF16};
  case TF32:
    return {BF16};
  case F16:
    return {BF16, F8E4M3};
  case BF16:
    return {F8E4M3};
  case F8E4M3:
    return {F8E5M2};
  default:
    return {};
  }
}

std::string without_marks(std::string_view source, const std::vector<NarrowMark>& marks) {
  return replaced(source, marks, [&](const NarrowMark& mark) {
    std::string head(source.substr(mark.begin, mark.end - mark.begin));
    std::replace_if(
        head.begin(), head.end(), [](char c) { return c != '(' && c != '\n'; }, ' ');
    return head;
  });
}

std::string plain_reference(const Task& task) {
  return without_marks(task.reference, narrow_marks(task.reference, "reference.cu"));
}

std::string with_calls(std::string_view source, const std::vector<NarrowMark>& marks,
                       const std::string& function) {
  const std::vector<std::string> names = narrow_names(marks);
  return replaced(source, marks, [&](const NarrowMark& mark) {
    const auto index = std::find(names.begin(), names.end(), mark.name) - names.begin();
    return fmt::format("{}({}, ", function, index);
  });
}

std::string allowed_text(const Tolerance& tolerance) {
  std::vector<std::string> parts;
  for (const auto& [name, format] : tolerance.allows) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    parts.push_back(fmt::format("each {} may be rounded to {}", words, to_string(format)));
  }
  return join(parts, ", ");
}

} // namespace winnow::tasks
