#pragma once

#include "evaluators/device/source/tokens.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

struct TemplateParameter {
  std::string name;
  bool type = false;     ///< typename T
  bool optional = false; ///< has a default, or is a pack
  bool pack = false;
};

/// A declaration or definition of a `__global__` function.
struct KernelDeclaration {
  std::string name;
  std::vector<std::string> parameters;                ///< names; empty where there is none
  std::vector<TemplateParameter> template_parameters; ///< empty: no template, or a specialisation
  int line = 0;
  int column = 0;              ///< of the name, from 1
  bool definition = false;     ///< has a body
  bool specialisation = false; ///< template<> ... name<args>(...)
  bool conditional = false;    ///< inside #if, or in a namespace
};

/// Something in the source that may explain why it does not compile.
struct ConstructHint {
  std::string what; ///< "asm (inline PTX)"
  int line = 0;
};

/// Where a token stands: namespaces around it ("a::b::"), and whether inside any other braces.
struct TokenScope {
  std::string path;
  bool in_block = false;
};

/// What can be read off the tokens without understanding C++.
struct SourceScan {
  std::vector<TokenScope> scopes;     ///< one per token
  std::vector<int> conditional_depth; ///< #if nesting, one per token
  std::vector<KernelDeclaration> kernels;
  std::set<std::string, std::less<>> template_parameters;
  std::vector<ConstructHint> unsupported; ///< what the cpu device cannot run
  std::vector<ConstructHint> host_code;   ///< what belongs to a host program
};

SourceScan scan_source(const std::vector<Token>& tokens);

/// Index of the token that closes the bracket at `open`, or tokens.size(). Understands ( [ { and,
/// at a '<', template argument lists.
std::size_t find_close(const std::vector<Token>& tokens, std::size_t open);

/// Ranges of tokens between the commas of (begin, end), brackets and template arguments respected.
std::vector<std::pair<std::size_t, std::size_t>> split_list(const std::vector<Token>& tokens,
                                                            std::size_t begin, std::size_t end);

/// "include" of "#  include <x>"; empty for a lone '#' or a line marker.
std::string directive_name(const Token& directive);
/// What follows the name, without comments, trimmed.
std::string directive_arguments(const Token& directive);

} // namespace winnow::evaluators
