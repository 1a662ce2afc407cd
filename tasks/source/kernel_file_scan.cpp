#include "tasks/source/kernel_file_scan.h"

#include "tasks/source/tokens.h"

#include <algorithm>
#include <cstddef>

namespace winnow::tasks {
namespace {

class KernelFileScanner {
public:
  explicit KernelFileScanner(std::string_view text)
      : text_(text), source_(normalise_source(text, &offsets_)),
        tokens_(tokenize(source_, &marks_)) {}

  KernelFileScan scan() {
    read_marks();
    for (const Token& token : tokens_) {
      if (token.kind == Token::Kind::Directive) {
        read_directive(token);
        continue;
      }
      note_names(token);
      if (token.kind == Token::Kind::Punctuation) {
        result_.open_braces += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
      }
    }
    find_kernels();
    return std::move(result_);
  }

private:
  /// In the text as given, of a byte of source_ and of the end of a range.
  std::size_t given(std::size_t offset) const { return offsets_[offset]; }
  std::size_t given_end(std::size_t end) const {
    return std::min(offsets_[end - 1] + 1, text_.size());
  }

  void read_marks() {
    for (const SourceMarks::PlanComment& plan : marks_.plans) {
      const std::size_t json_end = plan.end - (plan.closed ? kPlanEnd.size() : 0);
      result_.plans.push_back({given(plan.begin), given_end(plan.end),
                               given_end(plan.begin + kPlanBegin.size()), given_end(json_end),
                               plan.closed});
    }
    if (marks_.unclosed) {
      result_.unclosed = given(*marks_.unclosed);
    }
  }

  void note_names(const Token& token) {
    if (token.kind == Token::Kind::Identifier) {
      result_.identifiers.emplace(token.text);
    }
    result_.pastes_tokens = result_.pastes_tokens || token.text == "##";
  }

  void read_directive(const Token& directive) {
    const std::size_t mark = directive.text.starts_with("#") ? 1 : 2; // "%:"
    const std::vector<Token> words = tokenize(directive.text.substr(mark));
    if (words.size() >= 2 && words[0].text == "include") {
      return read_include(directive, mark + words[1].begin);
    }
    for (const Token& word : words) {
      note_names(word);
    }
  }

  /// `open`: of the header's '<' or '"' in the directive.
  void read_include(const Token& directive, std::size_t open) {
    const char first = directive.text[open];
    const std::size_t close = directive.text.find(first == '<' ? '>' : first, open + 1);
    const bool named = (first == '<' || first == '"') && close != std::string_view::npos;
    // The parser puts a comment around it, and comments do not nest.
    if (named && directive.text.substr(0, close).find("/*") == std::string_view::npos) {
      result_.includes.push_back({given(directive.begin), given_end(directive.begin + close + 1),
                                  std::string(directive.text.substr(open + 1, close - open - 1))});
    }
  }

  void find_kernels() {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].text != "__global__") {
        continue;
      }
      const Token* name = kernel_name(i + 1);
      if (name != nullptr && seen.insert(name->text).second) {
        result_.kernels.push_back({std::string(name->text), given(name->begin)});
      }
    }
  }

  // The identifier before the parameter list (or before '<' of a specialisation).
  const Token* kernel_name(std::size_t i) const {
    for (; i + 1 < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.text == "{" || token.text == ";") {
        return nullptr;
      }
      const std::string_view next = tokens_[i + 1].text;
      if (token.kind != Token::Kind::Identifier || (next != "(" && next != "<")) {
        continue;
      }
      const bool attribute = token.text.starts_with("__") || token.text == "alignas";
      if (!attribute) {
        return &token;
      }
      i = past_parentheses(i + 1);
    }
    return nullptr;
  }

  // The index of the token that closes the parenthesis at `i`.
  std::size_t past_parentheses(std::size_t i) const {
    int depth = 0;
    for (; i < tokens_.size(); ++i) {
      depth += tokens_[i].text == "(" ? 1 : tokens_[i].text == ")" ? -1 : 0;
      if (depth == 0) {
        break;
      }
    }
    return i;
  }

  std::string_view text_;
  std::vector<std::size_t> offsets_; ///< in text_, of each byte of source_
  std::string source_;
  SourceMarks marks_;
  std::vector<Token> tokens_;
  KernelFileScan result_;
};

} // namespace

KernelFileScan scan_kernel_file(std::string_view text) {
  return KernelFileScanner(text).scan();
}

namespace {

constexpr std::string_view kKernel = "__global__";

/// The position behind the brace that opens the body of the kernel at `at`; npos: a declaration.
std::size_t body_of(std::string_view code, std::size_t at) {
  int depth = 0;
  for (std::size_t i = code.find("void", at); i < code.size(); ++i) {
    depth += code[i] == '(' ? 1 : code[i] == ')' ? -1 : 0;
    if (depth == 0 && code[i] == ';') {
      return std::string::npos;
    }
    if (depth == 0 && code[i] == '{') {
      return i + 1;
    }
  }
  return std::string::npos;
}

} // namespace

std::string begin_kernels_with(std::string kernel_file, std::string_view statement) {
  for (std::size_t at = kernel_file.find(kKernel); at != std::string::npos;
       at = kernel_file.find(kKernel, at + kKernel.size())) {
    if (const std::size_t body = body_of(kernel_file, at); body != std::string::npos) {
      kernel_file.insert(body, statement);
    }
  }
  return kernel_file;
}

} // namespace winnow::tasks
