#include "evaluators/device/source/source_scan.h"

#include "base/text.h"

#include <algorithm>
#include <map>

namespace winnow::evaluators {
namespace {

using Kind = Token::Kind;

bool is(const std::vector<Token>& tokens, std::size_t at, std::string_view text) {
  return at < tokens.size() && tokens[at].text == text && tokens[at].kind != Kind::Directive;
}

bool is_word(const std::vector<Token>& tokens, std::size_t at) {
  return at < tokens.size() && tokens[at].kind == Kind::Identifier;
}

// Tracks braces and namespaces through the tokens.
class ScopeTracker {
public:
  explicit ScopeTracker(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<TokenScope> run() {
    std::vector<TokenScope> scopes;
    scopes.reserve(tokens_.size());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      scopes.push_back(current());
      const std::string_view text = tokens_[i].text;
      if (tokens_[i].kind == Kind::Directive) {
        continue;
      }
      if (text == "{") {
        open(i);
      } else if (text == "}" && !stack_.empty()) {
        blocks_ -= stack_.back().block ? 1 : 0;
        stack_.pop_back();
      }
      if (text == "{" || text == "}" || text == ";") {
        statement_ = i + 1;
      }
    }
    return scopes;
  }

private:
  struct Level {
    std::string path;
    bool block = false;
  };

  TokenScope current() const {
    return {stack_.empty() ? std::string() : stack_.back().path, blocks_ > 0};
  }

  void open(std::size_t brace) {
    const std::string path = stack_.empty() ? std::string() : stack_.back().path;
    std::size_t at = statement_;
    while (at < brace && tokens_[at].kind == Kind::Directive) {
      ++at;
    }
    at += is(tokens_, at, "inline") ? 1 : 0;
    if (is(tokens_, at, "namespace")) {
      std::string name;
      for (++at; at < brace; ++at) {
        name += is_word(tokens_, at) || is(tokens_, at, "::") ? tokens_[at].text : "";
      }
      stack_.push_back({path + (name.empty() ? "" : name + "::"), false});
    } else if (is(tokens_, at, "extern") && at + 2 == brace && tokens_[at + 1].kind == Kind::Text) {
      stack_.push_back({path, false});
    } else {
      stack_.push_back({path, true});
      ++blocks_;
    }
  }

  const std::vector<Token>& tokens_;
  std::vector<Level> stack_;
  std::size_t statement_ = 0;
  int blocks_ = 0;
};

std::string parameter_name(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
  static const std::set<std::string_view> kNotNames{
      "int",      "float", "double",     "char",
      "bool",     "short", "long",       "signed",
      "unsigned", "const", "volatile",   "__restrict__",
      "half",     "void",  "__restrict", "__grid_constant__"};
  std::size_t last = begin;
  while (last < end && !is(tokens, last, "=") && !is(tokens, last, "[")) {
    ++last;
  }
  if (last < begin + 2 || !is_word(tokens, last - 1) || is(tokens, last - 2, "::") ||
      kNotNames.count(tokens[last - 1].text) != 0) {
    return {};
  }
  return std::string(tokens[last - 1].text);
}

bool is_attribute_with_arguments(std::string_view word) {
  static const std::set<std::string_view> kAttributes{
      "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__",
      "__attribute__",     "alignas",          "__align__",   "noexcept"};
  return kAttributes.count(word) != 0;
}

// The column of `token`. `first`: the first token of the same text.
int column_of(const Token& token, const Token& first) {
  const std::string_view before(first.text.data() - first.begin, token.begin);
  return static_cast<int>(token.begin - (before.rfind('\n') + 1)) + 1;
}

// Reads the kernel declared by the `__global__` at `at`. False if it does not look like a kernel.
bool read_kernel(const std::vector<Token>& tokens, std::size_t at, KernelDeclaration& kernel) {
  for (std::size_t i = at + 1; i < tokens.size() && i < at + 200; ++i) {
    if (is(tokens, i, ";") || is(tokens, i, "{") || is(tokens, i, "}")) {
      return false;
    }
    if (!is_word(tokens, i)) {
      continue;
    }
    if (is_attribute_with_arguments(tokens[i].text) && is(tokens, i + 1, "(")) {
      i = find_close(tokens, i + 1);
      continue;
    }
    std::size_t open = i + 1;
    if (is(tokens, open, "<")) {
      kernel.specialisation = true;
      open = find_close(tokens, open) + 1;
    }
    if (!is(tokens, open, "(")) {
      continue;
    }
    const std::size_t close = find_close(tokens, open);
    kernel.name = std::string(tokens[i].text);
    kernel.line = tokens[i].line;
    kernel.column = column_of(tokens[i], tokens.front());
    for (const auto& [begin, end] : split_list(tokens, open + 1, close)) {
      kernel.parameters.push_back(parameter_name(tokens, begin, end));
    }
    kernel.definition = is(tokens, close + 1, "{");
    return true;
  }
  return false;
}

TemplateParameter read_template_parameter(const std::vector<Token>& tokens, std::size_t begin,
                                          std::size_t end) {
  TemplateParameter parameter;
  parameter.type = is(tokens, begin, "typename") || is(tokens, begin, "class");
  std::size_t last = begin;
  while (last < end && !is(tokens, last, "=")) {
    parameter.pack = parameter.pack || is(tokens, last, ".") || is(tokens, last, "...");
    ++last;
  }
  parameter.optional = parameter.pack || last < end;
  if (last > begin + 1 && is_word(tokens, last - 1)) {
    parameter.name = std::string(tokens[last - 1].text);
  }
  return parameter;
}

/// `open`: the '<' after `template`.
std::vector<TemplateParameter> read_template_parameters(const std::vector<Token>& tokens,
                                                        std::size_t open) {
  std::vector<TemplateParameter> parameters;
  for (const auto& [begin, end] : split_list(tokens, open + 1, find_close(tokens, open))) {
    parameters.push_back(read_template_parameter(tokens, begin, end));
  }
  return parameters;
}

/// The template parameters of the declaration that contains the `__global__` at `at`.
std::vector<TemplateParameter> template_parameters_before(const std::vector<Token>& tokens,
                                                          std::size_t at) {
  while (at > 0 && tokens[at - 1].kind != Kind::Directive && !is(tokens, at - 1, ";") &&
         !is(tokens, at - 1, "{") && !is(tokens, at - 1, "}")) {
    --at;
    if (is(tokens, at, "template") && is(tokens, at + 1, "<")) {
      return read_template_parameters(tokens, at + 1);
    }
  }
  return {};
}

const std::map<std::string_view, std::string_view>& unsupported_words() {
  static const std::map<std::string_view, std::string_view> kWords{
      {"asm", "asm (inline PTX)"},
      {"__asm__", "asm (inline PTX)"},
      {"__asm", "asm (inline PTX)"},
      {"tex1D", "tex1D (textures)"},
      {"tex2D", "tex2D (textures)"},
      {"tex3D", "tex3D (textures)"},
      {"tex1Dfetch", "tex1Dfetch (textures)"},
      {"tex2DLod", "tex2DLod (textures)"},
      {"cudaTextureObject_t", "cudaTextureObject_t (textures)"},
      {"cudaSurfaceObject_t", "cudaSurfaceObject_t (surfaces)"},
      {"surf2Dread", "surf2Dread (surfaces)"},
      {"surf2Dwrite", "surf2Dwrite (surfaces)"},
      {"__cluster_dims__", "__cluster_dims__ (thread block clusters)"},
      {"this_cluster", "this_cluster (thread block clusters)"},
      {"cluster_group", "cluster_group (thread block clusters)"},
      {"CUtensorMap", "CUtensorMap (TMA)"},
      {"cutlass", "CUTLASS"},
      {"cute", "CuTe"},
      {"cudaGridDependencySynchronize", "programmatic dependent launch"},
  };
  return kWords;
}

bool is_host_word(const std::vector<Token>& tokens, std::size_t at) {
  static const std::set<std::string_view> kCalls{"main",
                                                 "cudaMalloc",
                                                 "cudaMemcpy",
                                                 "cudaFree",
                                                 "cudaMemset",
                                                 "cudaMemcpyAsync",
                                                 "cudaMallocManaged",
                                                 "cudaDeviceSynchronize",
                                                 "hipMalloc",
                                                 "hipMemcpy",
                                                 "cudaGetLastError",
                                                 "cudaFuncSetAttribute",
                                                 "PYBIND11_MODULE",
                                                 "TORCH_LIBRARY",
                                                 "TORCH_CHECK",
                                                 "load_inline",
                                                 "hipLaunchKernelGGL"};
  static const std::set<std::string_view> kNamespaces{"torch", "at", "c10", "pybind11", "py"};
  const std::string_view word = tokens[at].text;
  const bool member = at > 0 && (is(tokens, at - 1, ".") || is(tokens, at - 1, "::"));
  return (kCalls.count(word) != 0 && is(tokens, at + 1, "(")) ||
         (kNamespaces.count(word) != 0 && is(tokens, at + 1, "::") && !member);
}

void scan_hints(const std::vector<Token>& tokens,
                const std::vector<std::pair<std::size_t, std::size_t>>& bodies, SourceScan& scan) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.text == "<<<") {
      const bool in_kernel = std::any_of(bodies.begin(), bodies.end(), [&](const auto& body) {
        return i > body.first && i < body.second;
      });
      if (in_kernel) {
        scan.unsupported.push_back({"<<<>>> in a kernel (dynamic parallelism)", token.line});
      } else {
        scan.host_code.push_back({"<<<>>>", token.line});
      }
    }
    if (token.kind != Kind::Identifier) {
      continue;
    }
    const auto found = unsupported_words().find(token.text);
    const bool names_namespace = token.text == "cutlass" || token.text == "cute";
    if (found != unsupported_words().end() && (!names_namespace || is(tokens, i + 1, "::"))) {
      scan.unsupported.push_back({std::string(found->second), token.line});
    } else if (token.text == "cuda" && is(tokens, i + 1, "::") && is(tokens, i + 2, "barrier")) {
      scan.unsupported.push_back({"cuda::barrier", token.line});
    } else if (is_host_word(tokens, i)) {
      scan.host_code.push_back({std::string(token.text), token.line});
    }
  }
}

std::vector<int> conditional_depths(const std::vector<Token>& tokens) {
  std::vector<int> depths;
  depths.reserve(tokens.size());
  int depth = 0;
  for (const Token& token : tokens) {
    const std::string name = token.kind == Kind::Directive ? directive_name(token) : "";
    depth -= name == "endif" && depth > 0 ? 1 : 0;
    depths.push_back(depth);
    depth += name == "if" || name == "ifdef" || name == "ifndef" ? 1 : 0;
  }
  return depths;
}

} // namespace

std::size_t find_close(const std::vector<Token>& tokens, std::size_t open) {
  if (open >= tokens.size()) {
    return tokens.size();
  }
  const bool angle = tokens[open].text == "<";
  int depth = 0;
  int angles = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::Punctuation) {
      continue;
    }
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") {
      ++depth;
    } else if (text == ")" || text == "]" || text == "}") {
      --depth;
      if (!angle && depth <= 0) {
        return i;
      }
    } else if (angle && depth == 0 && text == "<") {
      ++angles;
    } else if (angle && depth == 0 && (text == ">" || text == ">>>")) {
      angles -= text == ">" ? 1 : 3;
      if (angles <= 0) {
        return i;
      }
    }
    if (angle && (depth < 0 || text == ";")) {
      return tokens.size();
    }
  }
  return tokens.size();
}

std::vector<std::pair<std::size_t, std::size_t>> split_list(const std::vector<Token>& tokens,
                                                            std::size_t begin, std::size_t end) {
  std::vector<std::pair<std::size_t, std::size_t>> items;
  end = std::min(end, tokens.size());
  std::size_t start = begin;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{" || text == "<") {
      // A '<' without a matching '>' is a comparison.
      const std::size_t close = find_close(tokens, i);
      i = close < end ? close : i;
    } else if (text == ",") {
      items.emplace_back(start, i);
      start = i + 1;
    }
  }
  if (start < end) {
    items.emplace_back(start, end);
  }
  return items;
}

std::string directive_name(const Token& directive) {
  const std::size_t mark = directive.text.substr(0, 1) == "#" ? 1 : 2;
  const std::vector<Token> tokens = tasks::tokenize(directive.text.substr(mark));
  return !tokens.empty() && tokens[0].kind == Kind::Identifier ? std::string(tokens[0].text) : "";
}

std::string directive_arguments(const Token& directive) {
  const std::size_t mark = directive.text.substr(0, 1) == "#" ? 1 : 2;
  const std::string_view body = directive.text.substr(mark);
  const std::vector<Token> tokens = tasks::tokenize(body);
  if (tokens.empty()) {
    return {};
  }
  const std::size_t first = tokens[0].kind == Kind::Identifier ? 1 : 0;
  if (tokens.size() == first) {
    return {};
  }
  // Keep the file name unchanged: `//` inside it does not start a comment.
  const std::string_view rest = trim(body.substr(tokens[first].begin));
  if (rest.front() == '<' || rest.front() == '"') {
    const std::size_t close = rest.find(rest.front() == '<' ? '>' : '"', 1);
    return std::string(rest.substr(0, close == std::string_view::npos ? close : close + 1));
  }
  std::string out;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    out += (out.empty() ? "" : " ") + std::string(tokens[i].text);
  }
  return out;
}

SourceScan scan_source(const std::vector<Token>& tokens) {
  SourceScan scan;
  scan.scopes = ScopeTracker(tokens).run();
  scan.conditional_depth = conditional_depths(tokens);
  std::vector<std::pair<std::size_t, std::size_t>> bodies;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::Identifier) {
      continue;
    }
    if (tokens[i].text == "template" && is(tokens, i + 1, "<")) {
      for (const TemplateParameter& parameter : read_template_parameters(tokens, i + 1)) {
        if (!parameter.name.empty()) {
          scan.template_parameters.insert(parameter.name);
        }
      }
    } else if (tokens[i].text == "__global__") {
      KernelDeclaration kernel;
      if (read_kernel(tokens, i, kernel)) {
        kernel.template_parameters = template_parameters_before(tokens, i);
        kernel.conditional = scan.conditional_depth[i] > 0 || !scan.scopes[i].path.empty();
        std::size_t brace = i;
        while (kernel.definition && !is(tokens, brace, "{")) {
          ++brace;
        }
        bodies.emplace_back(brace, kernel.definition ? find_close(tokens, brace) : brace);
        scan.kernels.push_back(std::move(kernel));
      }
    }
  }
  scan_hints(tokens, bodies, scan);
  return scan;
}

} // namespace winnow::evaluators
