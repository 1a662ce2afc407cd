#include "evaluators/device/source/directives.h"

#include "base/text.h"

#include <algorithm>

namespace winnow::evaluators {
namespace {

const char* const kOnlyHeaders = "only the device headers are available";

class DirectiveChecker {
public:
  DirectiveChecker(const HeaderRules& headers, const std::set<std::string, std::less<>>& parameters)
      : headers_(headers), parameters_(parameters) {}

  void check(const Token& directive, bool conditional) {
    const std::string name = directive_name(directive);
    static const std::set<std::string_view> kHarmless{"else", "endif", "error", "pragma"};
    static const std::set<std::string_view> kIncludes{"include", "include_next", "import", "embed"};
    static const std::set<std::string_view> kTests{"if",   "ifdef",   "ifndef",
                                                   "elif", "elifdef", "elifndef"};
    if (directive.raw_string) {
      mistake(directive, "a raw string literal in a preprocessor line is not supported");
    } else if (kIncludes.count(name) != 0) {
      check_include(directive, name, conditional);
    } else if (kTests.count(name) != 0) {
      check_probe(directive);
      note_tested_parameters(directive);
      guarded_ = name == "ifndef" ? directive_arguments(directive) : "";
      return;
    } else if (name == "define" || name == "undef") {
      check_probe(directive);
      check_define(directive, name, conditional);
    } else if (kHarmless.count(name) == 0) {
      // Remove line markers: compilers quote lines of the files that line markers name.
      result.edits.push_back({directive.begin, directive.end, ""});
    } else if (name == "error") {
      // Compilers disagree on whether a comment may begin in this line.
      result.edits.push_back({directive.begin, directive.end, "#error " + quoted(directive)});
    }
    guarded_.clear();
  }

  DirectiveResult result;

private:
  void mistake(const Token& directive, std::string what) {
    if (!result.mistake) {
      result.mistake = SourceMistake{directive.line, std::move(what)};
    }
  }

  static std::string quoted(const Token& directive) {
    std::string text = directive_arguments(directive);
    text.erase(std::remove_if(text.begin(), text.end(),
                              [](char c) { return c == '"' || c == '\\' || c == '\n'; }),
               text.end());
    return "\"" + text + "\"";
  }

  // If the preprocessor may skip the branch, turns the line into an error of that branch.
  void refuse_include(const Token& directive, const std::string& what, bool conditional) {
    if (!conditional) {
      mistake(directive, what);
    }
    std::string text = what;
    std::replace(text.begin(), text.end(), '"', '\'');
    std::replace(text.begin(), text.end(), '\\', '/');
    std::replace(text.begin(), text.end(), '\n', ' ');
    result.edits.push_back({directive.begin, directive.end, "#error \"" + text + "\""});
  }

  void check_include(const Token& directive, const std::string& name, bool conditional) {
    const std::string argument = directive_arguments(directive);
    const char close = argument.empty() || argument.front() != '<' ? '"' : '>';
    if (name != "include") {
      refuse_include(directive, "#" + name + " is not available: " + kOnlyHeaders, conditional);
      return;
    }
    if (argument.size() < 3 || (argument.front() != '<' && argument.front() != '"') ||
        argument.back() != close) {
      refuse_include(directive,
                     "cannot include " + argument + ": write the header's name in <> or \"\"; " +
                         kOnlyHeaders,
                     conditional);
      return;
    }
    const std::string header = argument.substr(1, argument.size() - 2);
    if (allowed(header)) {
      // Write the line anew, so that the compiler sees exactly the checked name.
      result.edits.push_back({directive.begin, directive.end, "#include <" + header + ">"});

      return;
    }
    if (const std::string why = headers_.refusal ? headers_.refusal(header) : ""; !why.empty()) {
      refuse_include(directive, why, conditional);
      return;
    }
    const auto nearest = nearest_match(header, headers_.names);
    refuse_include(
        directive,
        "cannot include " + argument + ": " + kOnlyHeaders +
            (nearest ? "; did you mean <" + *nearest + ">?"
                     : "; a kernel is one file: copy what it needs of " + argument + " into it"),
        conditional);
  }

  bool allowed(const std::string& header) const {
    const auto& names = headers_.names;
    return std::find(names.begin(), names.end(), header) != names.end() ||
           (headers_.also && plain_name("<" + header + ">") && headers_.also(header));
  }

  // Allows __has_include only for plain relative names, because it tells whether a file exists.
  void check_probe(const Token& directive) {
    const std::vector<Token> words = tasks::tokenize(directive.text.substr(1));
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].text.rfind("__has_include", 0) != 0 && words[i].text != "__has_embed") {
        continue;
      }
      const bool called = i + 1 < words.size() && words[i + 1].text == "(";
      const bool tested = !called && directive_name(directive) != "define";
      const std::string_view rest =
          called ? trim(directive.text.substr(1 + words[i + 1].end)) : std::string_view();
      if (!tested && (rest.empty() || !plain_name(rest))) {
        mistake(directive,
                std::string("__has_include takes a literal header name; ") + kOnlyHeaders);
      }
    }
  }

  static bool plain_name(std::string_view argument) {
    const std::size_t close = argument.find(argument.front() == '<' ? '>' : '"', 1);
    if ((argument.front() != '<' && argument.front() != '"') || close == std::string_view::npos) {
      return false;
    }
    const std::string_view name = argument.substr(1, close - 1);
    return !name.empty() && name.front() != '/' && name.find("..") == std::string_view::npos &&
           name.find("/*") == std::string_view::npos && name.find("//") == std::string_view::npos;
  }

  void note_tested_parameters(const Token& directive) {
    for (const Token& token : tasks::tokenize(directive.text.substr(1))) {
      if (parameters_.count(token.text) != 0) {
        result.tested_parameters.insert(std::string(token.text));
      }
    }
  }

  void check_define(const Token& directive, const std::string& name, bool conditional) {
    const std::vector<Token> words = tasks::tokenize(directive.text.substr(1));
    const std::string_view defined = words.size() > 1 ? words[1].text : std::string_view();
    static const std::set<std::string_view> kReserved{"asm",
                                                      "__asm__",
                                                      "__asm",
                                                      "no_sanitize",
                                                      "__no_sanitize__",
                                                      "no_sanitize_thread",
                                                      "__no_sanitize_thread__",
                                                      "disable_sanitizer_instrumentation",
                                                      "__disable_sanitizer_instrumentation__"};
    const bool names_asm = std::any_of(words.begin(), words.end(),
                                       [](const Token& word) { return word.text == "__asm"; });
    if (names_asm || kReserved.count(defined) != 0 || defined.rfind("winnow", 0) == 0 ||
        defined.rfind("WINNOW", 0) == 0) {
      mistake(directive, "#" + name + " " + std::string(defined) +
                             " touches a reserved name: choose one that is not asm and does not "
                             "begin with winnow");
    } else if (parameters_.count(defined) != 0 && guarded_ != defined && !conditional) {
      mistake(directive, "#" + name + " " + std::string(defined) +
                             " hides the plan's parameter of that name: remove the line, the "
                             "parameter is visible to the code as a constant");
    }
  }

  const HeaderRules& headers_;
  const std::set<std::string, std::less<>>& parameters_;
  std::string guarded_; ///< X when the previous line is `#ifndef X`
};

// A `#pragma unroll` without a loop: clang++ rejects it, CUDA's compiler ignores it.
bool is_idle_unroll(const std::vector<Token>& tokens, std::size_t at) {
  if (directive_name(tokens[at]) != "pragma" ||
      directive_arguments(tokens[at]).rfind("unroll", 0) != 0) {
    return false;
  }
  static const std::set<std::string_view> kLoops{"for", "while", "do"};
  const bool more = at + 1 < tokens.size();
  // Another pragma or an #if may stand between the pragma and its loop.
  return !more ||
         (tokens[at + 1].kind != Token::Kind::Directive && kLoops.count(tokens[at + 1].text) == 0);
}

} // namespace

std::vector<std::string> header_names(const std::filesystem::path& headers,
                                      const std::vector<std::string>& trees) {
  std::vector<std::string> names;
  for (const std::string& tree : trees) {
    const std::filesystem::path root = headers / tree;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.is_regular_file()) {
        names.push_back(entry.path().lexically_relative(root).string());
      }
    }
  }
  return names;
}

DirectiveResult check_directives(const std::vector<Token>& tokens, const SourceScan& scan,
                                 const HeaderRules& headers,
                                 const std::set<std::string, std::less<>>& parameters) {
  DirectiveChecker checker(headers, parameters);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::Directive && is_idle_unroll(tokens, i)) {
      checker.result.edits.push_back({tokens[i].begin, tokens[i].end, ""});
    } else if (tokens[i].kind == Token::Kind::Directive) {
      checker.check(tokens[i], scan.conditional_depth[i] > 0);
    }
  }
  return std::move(checker.result);
}

std::string apply_edits(std::string_view source, std::vector<SourceEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const SourceEdit& a, const SourceEdit& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t at = 0;
  for (const SourceEdit& edit : edits) {
    out += source.substr(at, edit.begin - at);
    out += edit.text;
    const std::string_view removed = source.substr(edit.begin, edit.end - edit.begin);
    const auto lost = std::count(removed.begin(), removed.end(), '\n') -
                      std::count(edit.text.begin(), edit.text.end(), '\n');
    out.append(static_cast<std::size_t>(std::max<std::ptrdiff_t>(lost, 0)), '\n');
    at = edit.end;
  }
  return out += source.substr(at);
}

} // namespace winnow::evaluators
