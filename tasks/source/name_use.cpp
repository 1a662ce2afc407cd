#include "tasks/source/name_use.h"

#include "tasks/source/tokens.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace winnow::tasks {
namespace {

bool opens(std::string_view text) {
  return text == "(" || text == "[" || text == "{";
}

bool closes(std::string_view text) {
  return text == ")" || text == "]" || text == "}";
}

class NameUse {
public:
  NameUse(std::string_view source, std::string_view name)
      : source_(normalise_source(source)), tokens_(tokenize(source_)), name_(name) {}

  std::optional<int> find() {
    if (const auto line = find_in_directives()) {
      return line;
    }
    std::size_t own_end = 0; // up to here the name is a template's parameter
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.text == "template" && i >= own_end) {
        header_ = read_header(i + 1);
      }
      if (header_.name == i && i != 0) {
        own_end = declaration_end(header_.end);
      }
      const bool global = i > 0 && tokens_[i - 1].text == "::";
      const bool named =
          token.kind == Token::Kind::Identifier ? token.text == name_ : is_pragma_of(token);
      if (named && (i >= own_end || global)) {
        return token.line;
      }
    }
    return std::nullopt;
  }

private:
  struct Header {
    std::size_t name = 0; ///< the token that declares the name; 0: none does
    std::size_t end = 0;  ///< past '>'
  };

  /// Without the mark "#" or "%:".
  static std::vector<Token> words_of(const Token& directive) {
    return tokenize(directive.text.substr(directive.text.starts_with("#") ? 1 : 2));
  }

  bool is_pragma_of(const Token& token) const {
    if (token.kind != Token::Kind::Directive) {
      return false;
    }
    const std::vector<Token> words = words_of(token);
    return std::any_of(words.begin(), words.end(),
                       [&](const Token& word) { return word.text == name_; });
  }

  std::optional<int> find_in_directives() {
    for (const Token& directive : tokens_) {
      if (directive.kind != Token::Kind::Directive) {
        continue;
      }
      const std::vector<Token> words = words_of(directive);
      if (!words.empty() && words[0].text == "pragma") {
        continue; // find() sees whether a template's parameter is meant
      }
      int depth = 0;
      bool doubtful = directive.text.find("%:%:") != std::string_view::npos;
      for (const Token& word : words) {
        depth += opens(word.text) ? 1 : closes(word.text) ? -1 : 0;
        doubtful = doubtful || word.text == name_ || word.text == "##" || depth < 0;
      }
      if (doubtful || depth != 0) {
        return directive.line;
      }
      if (words.size() > 1 && words[0].text == "define") {
        macros_.insert(words[1].text);
      }
    }
    return std::nullopt;
  }

  /// The header "<int A, int NAME = 4>" that begins at the token `i`.
  Header read_header(std::size_t i) const {
    Header header;
    int angles = 0;
    int brackets = 0;
    if (i >= tokens_.size() || tokens_[i].text != "<") {
      return header; // an explicit instantiation
    }
    const std::size_t begin = i;
    bool assigned = false; // a default value follows
    for (; i < tokens_.size(); ++i) {
      const std::string_view text = tokens_[i].text;
      if (text == "{" || text == ";" || text == ">>>" ||
          tokens_[i].kind == Token::Kind::Directive) {
        return {};
      }
      brackets += opens(text) ? 1 : closes(text) ? -1 : 0;
      angles += brackets != 0 ? 0 : text == "<" ? 1 : text == ">" ? -1 : 0;
      if (angles == 0) {
        header.end = i + 1;
        return header;
      }
      if (angles == 1 && brackets == 0) {
        assigned = text == "=" || (assigned && text != ",");
        header.name = !assigned && i > begin + 1 && declares(i) ? i : header.name;
      }
    }
    return {};
  }

  /// Whether the token is NAME in "int NAME," "int NAME = 4" or "int NAME>".
  bool declares(std::size_t i) const {
    const std::string_view before = tokens_[i - 1].text;
    const std::string_view after = i + 1 < tokens_.size() ? tokens_[i + 1].text : "";
    return tokens_[i].text == name_ && tokens_[i - 1].kind == Token::Kind::Identifier &&
           before != "typename" && before != "class" &&
           (after == "," || after == "=" || after == ">");
  }

  /// Past the declaration that begins at the token `i`: past its ';' or its body. An earlier token
  /// if a macro or a condition makes the end doubtful.
  std::size_t declaration_end(std::size_t i) const {
    int depth = 0;
    bool body = false;
    for (; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (is_conditional(token) || (!body && macros_.count(token.text) != 0)) {
        return i;
      }
      if (opens(token.text)) {
        body = body || (depth == 0 && token.text == "{");
        ++depth;
      } else if (closes(token.text)) {
        --depth;
      }
      if (depth <= 0 && (token.text == ";" || (body && token.text == "}"))) {
        return i + 1;
      }
    }
    return 0; // the file is cut off
  }

  static bool is_conditional(const Token& token) {
    if (token.kind != Token::Kind::Directive) {
      return false;
    }
    const std::vector<Token> words = words_of(token);
    return !words.empty() && (words[0].text.starts_with("if") || words[0].text.starts_with("el") ||
                              words[0].text == "endif");
  }

  std::string source_;
  std::vector<Token> tokens_;
  std::string_view name_;
  std::set<std::string_view> macros_;
  Header header_;
};

} // namespace

std::optional<int> line_that_uses(std::string_view source, std::string_view name) {
  return NameUse(source, name).find();
}

} // namespace winnow::tasks
