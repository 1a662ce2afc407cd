#pragma once

#include "tasks/source/tokens.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace winnow::evaluators {

using tasks::Token;

struct TemplateParameter {
  std::string name;
  bool type = false;     ///< typename T
  bool optional = false; ///< has a default, or is a pack
  bool pack = false;
};

/// A declaration or definition of a `__global__` function.
struct KernelDeclaration {
  std::string name;
  std::vector<std::string> parameters; ///< names; empty for a parameter without a name
  /// Empty: not a template, or a specialisation
  std::vector<TemplateParameter> template_parameters;
  int line = 0;
  int column = 0;              ///< column of the name, from 1
  bool definition = false;     ///< has a body
  bool specialisation = false; ///< template<> ... name<args>(...)
  bool conditional = false;    ///< inside #if, or in a namespace
};

/// A construct in the source that may explain a failed compile.
struct ConstructHint {
  std::string what; ///< "asm (inline PTX)"
  int line = 0;
};

/// Scope of a token: the namespaces around it ("a::b::"), and whether it is inside any other
/// braces.
struct TokenScope {
  std::string path;
  bool in_block = false;
};

/// Facts that the tokens show without a full C++ parser.
struct SourceScan {
  std::vector<TokenScope> scopes;     ///< one per token
  std::vector<int> conditional_depth; ///< #if nesting, one per token
  std::vector<KernelDeclaration> kernels;
  std::set<std::string, std::less<>> template_parameters;
  std::vector<ConstructHint> unsupported; ///< constructs that the CPU device cannot run
  std::vector<ConstructHint> host_code;   ///< constructs that belong to a host program
};

SourceScan scan_source(const std::vector<Token>& tokens);

/// Index of the token that closes the bracket at `open`, or tokens.size(). Handles ( [ { and, at a
/// '<', template argument lists.
std::size_t find_close(const std::vector<Token>& tokens, std::size_t open);

/// Splits the tokens (begin, end) at commas outside of brackets and template argument lists.
std::vector<std::pair<std::size_t, std::size_t>> split_list(const std::vector<Token>& tokens,
                                                            std::size_t begin, std::size_t end);

/// "include" for "#  include <x>"; empty for a lone '#' or a line marker.
std::string directive_name(const Token& directive);
/// The text after the directive's name, trimmed and without comments.
std::string directive_arguments(const Token& directive);

} // namespace winnow::evaluators
