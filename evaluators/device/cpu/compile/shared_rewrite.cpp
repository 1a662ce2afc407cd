#include "evaluators/device/cpu/compile/shared_rewrite.h"

#include <algorithm>
#include <set>

namespace winnow::evaluators {
namespace {

using Kind = Token::Kind;
using Range = std::pair<std::size_t, std::size_t>; ///< a range of tokens; the end is exclusive

class SharedRewriter {
public:
  SharedRewriter(std::string_view source, const std::vector<Token>& tokens, const SourceScan& scan)
      : source_(source), tokens_(tokens), scan_(scan) {}

  SharedRewrite run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is(i, "__shared__")) {
        i = rewrite(i);
      }
    }
    return std::move(result_);
  }

private:
  bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].text == text && tokens_[at].kind == Kind::Identifier;
  }
  bool mark(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].text == text && tokens_[at].kind == Kind::Punctuation;
  }
  bool alignment(std::size_t at) const {
    return (is(at, "alignas") || is(at, "__align__") || is(at, "__attribute__")) &&
           mark(at + 1, "(");
  }

  // The first token of the declaration that contains `shared`.
  std::size_t declaration_start(std::size_t shared) const {
    std::size_t at = shared;
    while (at > 0) {
      const Token& before = tokens_[at - 1];
      if ((before.kind == Kind::Identifier && before.text != "else" && before.text != "do") ||
          (before.kind == Kind::Text && at >= 2 && is(at - 2, "extern"))) {
        --at;
      } else if (before.text == ")") {
        const std::size_t open = find_open(at - 1);
        if (open == 0 || !alignment(open - 1)) {
          return at;
        }
        at = open - 1;
      } else {
        return at;
      }
    }
    return at;
  }

  std::size_t find_open(std::size_t close) const {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > 0;) {
      depth += mark(at, ")") ? 1 : 0;
      depth -= mark(at, "(") ? 1 : 0;
      if (depth == 0) {
        return at;
      }
    }
    return 0;
  }

  std::size_t declaration_end(std::size_t from) const {
    for (std::size_t at = from; at < tokens_.size(); ++at) {
      if (mark(at, "(") || mark(at, "[") || mark(at, "{")) {
        at = find_close(tokens_, at);
      } else if (mark(at, ";") ||
                 tokens_[std::min(at, tokens_.size() - 1)].kind == Kind::Directive) {
        return at;
      }
    }
    return tokens_.size();
  }

  std::string text(std::size_t begin, std::size_t end) const {
    return begin < end ? std::string(source_.substr(tokens_[begin].begin,
                                                    tokens_[end - 1].end - tokens_[begin].begin))
                       : std::string();
  }

  // Rewrites one declaration and returns the last token that it handled.
  std::size_t rewrite(std::size_t shared) {
    const std::size_t begin = declaration_start(shared);
    const std::size_t end = declaration_end(shared);
    if (end >= tokens_.size() || !mark(end, ";")) {
      return shared; // not a declaration but part of a macro's use; the compiler will report errors
    }
    std::size_t name = shared;
    while (name < end && !mark(name + 1, "[") && !mark(name + 1, ",") && name + 1 < end &&
           !mark(name + 1, "=")) {
      const bool skips = alignment(name) || mark(name + 1, "<");
      name =
          skips && find_close(tokens_, name + 1) < end ? find_close(tokens_, name + 1) : name + 1;
    }
    bool dynamic = false;
    for (std::size_t i = begin; i < name; ++i) {
      dynamic = dynamic || is(i, "extern");
    }
    const bool scalar = name + 1 >= end || !mark(name + 1, "[");
    if (dynamic && scalar && !scan_.scopes[name].in_block) {
      return end; // a scalar at file scope; the compiler rejects this rare case
    }
    if (dynamic && tokens_[name].kind == Kind::Identifier) {
      rewrite_dynamic({begin, end}, name);
    } else {
      rewrite_static({begin, end}, shared);
    }
    return end;
  }

  void rewrite_static(Range range, std::size_t shared) {
    std::string front;
    for (std::size_t i = range.first; i < range.second; ++i) {
      if (is(i, "static")) {
        edit(i, i + 1, "");
      } else if (alignment(i) && i > shared && !is(i, "__attribute__")) {
        const std::size_t close = find_close(tokens_, i + 1);
        front += text(i, close + 1) + " ";
        edit(i, close + 1, "");
        i = close;
      } else if (mark(i, "[") || mark(i, "{")) {
        i = find_close(tokens_, i);
      }
    }
    if (!front.empty()) {
      const std::size_t at = tokens_[range.first].begin;
      result_.edits.push_back({at, at, front});
    }
  }

  void edit(std::size_t begin, std::size_t end, std::string replacement) {
    result_.edits.push_back({tokens_[begin].begin, tokens_[end - 1].end, std::move(replacement)});
  }

  // The element type as written, without storage class and alignment.
  std::string element_type(std::size_t begin, std::size_t end) const {
    std::string type;
    for (std::size_t i = begin; i < end; ++i) {
      if (is(i, "extern") || is(i, "static") || is(i, "__shared__") ||
          tokens_[i].kind == Kind::Text) {
        continue;
      }
      if (alignment(i)) {
        i = find_close(tokens_, i + 1);
        continue;
      }
      type += (type.empty() ? "" : " ") + std::string(tokens_[i].text);
    }
    return type;
  }

  void rewrite_dynamic(Range range, std::size_t name) {
    const std::string type = element_type(range.first, name);
    const TokenScope& scope = scan_.scopes[name];
    std::string out;
    for (const auto& [begin, end] : split_list(tokens_, name, range.second)) {
      out += declare(type, begin, end, scope);
    }
    edit(range.first, range.second, out.empty() ? ";" : out.substr(0, out.size() - 1));
  }

  // Declares `x[]`, `x[][32]` or `x` as a pointer to the element type or as a reference.
  std::string declare(const std::string& type, std::size_t begin, std::size_t end,
                      const TokenScope& scope) {
    const std::string name(tokens_[begin].text);
    const bool array = mark(begin + 1, "[");
    const std::size_t close = array ? find_close(tokens_, begin + 1) : begin;
    std::string rest = text(std::min(close + 1, end), end);
    std::replace(rest.begin(), rest.end(), '\n', ' ');
    // `__typeof__` of a null pointer gives "pointer to T[32]", so the declarator need not be taken
    // apart.
    const std::string pointer =
        rest.empty() ? type + "*" : "__typeof__((" + type + "(*)" + rest + ")nullptr)";
    if (scope.in_block) {
      return array ? pointer + " const " + name + " = (" + pointer + ")::winnow_dynamic_shared();"
                   : type + "& " + name + " = *(" + type + "*)::winnow_dynamic_shared();";
    }
    const std::string qualified = scope.path + name;
    if (!declared_.insert(qualified).second) {
      return ";";
    }
    result_.bindings.push_back(qualified + " = (decltype(" + qualified +
                               "))::winnow_dynamic_shared();");
    return "static thread_local " + pointer + " " + name + ";";
  }

  std::string_view source_;
  const std::vector<Token>& tokens_;
  const SourceScan& scan_;
  SharedRewrite result_;
  std::set<std::string> declared_;
};

// Rewrites a macro that declares shared memory inside functions.
void rewrite_macro(const Token& directive, std::vector<SourceEdit>& edits) {
  const std::vector<Token> words = tasks::tokenize(directive.text.substr(1));
  if (words.size() < 3 || words[0].text != "define") {
    return;
  }
  const bool function_like = words[2].text == "(" && words[2].begin == words[1].end;
  const std::size_t last = function_like ? find_close(words, 2) : 1;
  if (last >= words.size()) {
    return;
  }
  const std::size_t offset = 1 + words[last].end;
  const std::string body = std::string(directive.text.substr(offset)) + ";";
  const std::vector<Token> tokens = tasks::tokenize(body);
  SourceScan scan;
  scan.scopes.assign(tokens.size(), {"", true});
  for (SourceEdit& edit : SharedRewriter(body, tokens, scan).run().edits) {
    edits.push_back({directive.begin + offset + edit.begin, directive.begin + offset + edit.end,
                     std::move(edit.text)});
  }
}

} // namespace

SharedRewrite rewrite_shared(std::string_view source, const std::vector<Token>& tokens,
                             const SourceScan& scan) {
  SharedRewrite result = SharedRewriter(source, tokens, scan).run();
  for (const Token& token : tokens) {
    if (token.kind == Kind::Directive && token.text.find("__shared__") != std::string_view::npos) {
      rewrite_macro(token, result.edits);
    }
  }
  return result;
}

} // namespace winnow::evaluators
